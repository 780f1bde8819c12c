//! What an index remembers of its directories: the id of the tree that each would be, as long as nothing in it changed.
//!
//! An entry that is changed without a word here would be left out of the next commit of whoever believes it.

/// The form: name, NUL, number of entries (-1 if it is not known), space, number of directories in it, newline, id (if
/// it is known), and then those directories.
struct Node<'a> {
    name: &'a [u8],
    /// The number of entries and the id; none if somebody changed something.
    known: Option<(&'a [u8], &'a [u8])>,
    below: Vec<Self>,
}

const ID: usize = 20;

/// The same without what these paths make untrue; none if it is of a form that is not known here.
pub(super) fn forgetting<'p>(
    content: &[u8],
    paths: impl IntoIterator<Item = &'p [u8]>,
) -> Option<Vec<u8>> {
    let (mut root, rest) = Node::parse(content, DEEPEST)?;
    for path in paths {
        root.forget(path);
    }
    let mut written = vec![];
    root.write(&mut written);
    rest.is_empty().then_some(written)
}

/// The ids of all trees that are known; none if it is of a form that is not known here.
pub(super) fn ids(content: &[u8]) -> Option<Vec<&[u8]>> {
    let (root, rest) = Node::parse(content, DEEPEST)?;
    let mut found = vec![];
    root.list(&mut found);
    rest.is_empty().then_some(found)
}

/// No path has more parts: a record that does was made to overflow the stack.
const DEEPEST: usize = 2_048;

impl<'a> Node<'a> {
    fn parse(bytes: &'a [u8], depth: usize) -> Option<(Self, &'a [u8])> {
        let depth = depth.checked_sub(1)?;
        let (name, bytes) = until(bytes, 0)?;
        let (entries, bytes) = until(bytes, b' ')?;
        let (count, mut bytes) = until(bytes, b'\n')?;
        let mut known = None;
        if entries != b"-1" {
            let (id, rest) = bytes.split_at_checked(ID)?;
            (known, bytes) = (Some((entries, id)), rest);
        }
        let mut below = vec![];
        for _ in 0..str::from_utf8(count).ok()?.parse::<u32>().ok()? {
            let (node, rest) = Self::parse(bytes, depth)?;
            below.push(node);
            bytes = rest;
        }
        Some((Self { name, known, below }, bytes))
    }

    fn forget(&mut self, path: &[u8]) {
        self.known = None;
        let Some((name, rest)) = until(path, b'/') else {
            return;
        };
        if let Some(node) = self.below.iter_mut().find(|it| it.name == name) {
            node.forget(rest);
        }
    }

    fn list(&self, to: &mut Vec<&'a [u8]>) {
        to.extend(self.known.map(|(_, id)| id));
        for node in &self.below {
            node.list(to);
        }
    }

    fn write(&self, to: &mut Vec<u8>) {
        let (entries, id) = self.known.unwrap_or((b"-1", b""));
        let count = self.below.len().to_string();
        for part in [self.name, b"\0", entries, b" ", count.as_bytes(), b"\n", id] {
            to.extend(part);
        }
        for node in &self.below {
            node.write(to);
        }
    }
}

/// What stands before the first `mark`, and what behind it.
fn until(bytes: &[u8], mark: u8) -> Option<(&[u8], &[u8])> {
    let place = bytes.iter().position(|&byte| byte == mark)?;
    Some((&bytes[..place], &bytes[place + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &[u8] =
        b"\x003 2\n00000000000000000000a\x001 0\n11111111111111111111b\x002 0\n22222222222222222222";

    #[test]
    fn directories_above_a_changed_path_are_forgotten_and_no_others() {
        let forgotten = forgetting(WHOLE, [b"b/file".as_slice(), b"none/file"]).unwrap();
        let expected = b"\x00-1 2\na\x001 0\n11111111111111111111b\x00-1 0\n";
        assert_eq!(forgotten, expected);
        assert_eq!(
            forgetting(&forgotten, [b"b/file".as_slice()]).unwrap(),
            expected
        );
        assert_eq!(forgetting(WHOLE, []).unwrap(), WHOLE);
    }

    #[test]
    fn only_what_is_known_has_an_id() {
        let id = |digit: u8| vec![digit; ID];
        assert_eq!(ids(WHOLE).unwrap(), [id(b'0'), id(b'1'), id(b'2')]);
        let forgotten = forgetting(WHOLE, [b"b/file".as_slice()]).unwrap();
        assert_eq!(ids(&forgotten).unwrap(), [id(b'1')]);
    }

    #[test]
    fn what_is_not_known_is_left_to_git() {
        for damaged in [
            b"".as_slice(),
            b"\x003 2\nshort",
            b"\x00-1 0\nand more",
            b"\x00-1 x\n",
        ] {
            assert_eq!(forgetting(damaged, []), None);
            assert_eq!(ids(damaged), None);
        }
    }
}
