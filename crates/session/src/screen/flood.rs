//! What of a flood nobody will see: lines that scroll away before anybody could look.
//!
//! A program that prints faster than we read hands over hundreds of lines at once. The emulator looks at every character of them,
//! which is most of what such a program costs, and keeps the last screenful: history is in the transcript. Where the rest can be
//! proved not to matter, it is not shown to the emulator at all.
//!
//! It does not matter if only characters and line ends follow it, with two screenfuls of lines: the first brings the cursor to the
//! bottom, wherever it was, and the second pushes out whatever stood there. Margins would keep rows from going, so whoever has
//! ever set any is left alone.

use std::ops::Range;

/// The piece of what is printed that scrolls away unseen, on a screen of so many rows. It begins with a character, and behind it
/// the cursor is at the left edge.
pub(super) fn unseen(bytes: &[u8], rows: usize) -> Option<Range<usize>> {
    let plain = bytes.iter().rposition(|byte| !is_plain(*byte));
    let plain = plain.map_or(0, |place| place + 1);
    let mut ends = memchr::memrchr_iter(b'\n', &bytes[plain..]);
    let end = plain + ends.nth(2 * rows)?;
    // The first line may end a sequence that an escape before it began.
    let first = plain + memchr::memchr(b'\n', &bytes[plain..])?;
    let begin = first + bytes[first..].iter().position(|byte| *byte >= b' ')?;
    let is_at_edge = end > begin && bytes[end - 1] == b'\r';
    is_at_edge.then_some(begin..end + 1)
}

/// Characters of one cell, and ends of lines.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\r' | b'\n')
}

/// Whether a program has set margins within which alone it scrolls. The emulator does not tell.
#[derive(Debug, Default)]
pub(super) struct Margins {
    are_set: bool,
    heard: Heard,
}

/// How much of a control sequence the last bytes are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Heard {
    #[default]
    Nothing,
    Escape,
    Sequence {
        has_numbers: bool,
    },
}

impl Margins {
    pub(super) const fn are_set(&self) -> bool {
        self.are_set
    }

    pub(super) fn hear(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.heard == Heard::Nothing {
                match memchr::memchr(b'\x1b', rest) {
                    Some(at) => rest = &rest[at..],
                    None => return,
                }
            }
            self.step(rest[0]);
            rest = &rest[1..];
        }
    }

    fn step(&mut self, byte: u8) {
        self.heard = match (self.heard, byte) {
            (_, b'\x1b') => Heard::Escape,
            (Heard::Escape, b'[') => Heard::Sequence { has_numbers: false },
            (Heard::Escape, b'c') => {
                // A new terminal, with nothing set.
                self.are_set = false;
                Heard::Nothing
            }
            (Heard::Sequence { .. }, b'0'..=b'9' | b';') => Heard::Sequence { has_numbers: true },
            // Those of the other screen may be set still, so that taking them back proves nothing.
            (Heard::Sequence { has_numbers }, b'r') => {
                self.are_set |= has_numbers;
                Heard::Nothing
            }
            // Control characters within a sequence are obeyed, and it goes on.
            (heard @ Heard::Sequence { .. }, ..b' ') => heard,
            (Heard::Nothing | Heard::Escape | Heard::Sequence { .. }, _) => Heard::Nothing,
        };
    }
}

#[cfg(test)]
mod tests {
    use handoff_process::Size;
    use proptest::prelude::*;

    use super::*;
    use crate::screen::Screen;

    const SIZE: Size = Size {
        rows: 4,
        columns: 9,
    };

    #[test]
    fn two_screenfuls_are_kept_and_what_comes_before_goes() {
        let lines = |from, to| -> String { (from..to).map(|it| format!("{it:03}\r\n")).collect() };
        let text = format!("\x1b[1mbold\r\n{}tail", lines(0, 20));
        let gone = unseen(text.as_bytes(), 4).unwrap();
        assert_eq!(&text[gone.clone()], lines(0, 12));
        assert_eq!(&text[gone.end..], format!("{}tail", lines(12, 20)));
        for kept in ["", "short\r\n", &lines(0, 8), &"\n".repeat(20)] {
            assert_eq!(unseen(kept.as_bytes(), 4), None, "{kept:?}");
        }
    }

    #[test]
    fn margins_are_heard_however_the_bytes_come() {
        let table: [(&[u8], bool); 8] = [
            (b"\x1b[2;5r", true),
            (b"\x1b[;r", true),
            (b"\x1b[r", false),
            (b"\x1b[?1;2r", false),
            (b"\x1b[2;\n5rx", true),
            (b"\x1b[2;5rx\x1b[r", true),
            (b"\x1b[2;5rx\x1bc", false),
            (b"plain r\x1b[1mr", false),
        ];
        for (text, are_set) in table {
            for size in 1..=text.len() {
                let mut margins = Margins::default();
                text.chunks(size).for_each(|piece| margins.hear(piece));
                assert_eq!(margins.are_set(), are_set, "{text:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn rows_outside_of_margins_stay() {
        let mut screen = Screen::new(SIZE);
        screen.print(b"above\r\n\x1b[2;3r\x1b[2;1H");
        screen.print("line\r\n".repeat(50).as_bytes());
        let shown = screen.parser.screen().contents();
        assert!(shown.starts_with("above\n"), "{shown:?}");
    }

    /// What programs print: many lines, and among them whatever could make a line that is left out matter.
    fn printed() -> impl Strategy<Value = Vec<u8>> {
        let lines = (1_usize..40, "[ -~]{0,20}").prop_map(|(count, text)| {
            let ends = ["\r\n", "\n", "\r\n", "\r\n"];
            let line = |at: usize| format!("{at}{text}{}", ends[(at + text.len()) % 4]);
            (0..count).map(line).collect::<String>().into_bytes()
        });
        let regular = (1_usize..60).prop_map(|count| {
            let lines: String = (0..count).map(|it| format!("line {it}\r\n")).collect();
            lines.into_bytes()
        });
        let others: [&[u8]; 18] = [
            b"\x1b[31m",
            b"\x1b[2;3r",
            b"\x1b[r",
            b"\x1b[2",
            b"\x1b]0;title",
            b"\x07",
            b"\x1b\\",
            b"\x1bP",
            b"\x1b[?1049h",
            b"\x1b[?1049l",
            b"\x1b[2;2H",
            b"\x1b[?6h",
            b"\x1b",
            "世界".as_bytes(),
            b"\xe4",
            b"\t",
            b"\x1b7",
            b"\x1b8",
        ];
        let others = prop::sample::select(others.map(<[u8]>::to_vec).to_vec());
        prop_oneof![2 => lines, 3 => regular, 3 => others]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn a_screen_shows_the_same_as_if_it_had_seen_everything(
            pieces in prop::collection::vec(printed(), 1..12),
            size in 1_usize..700,
        ) {
            let bytes = pieces.concat();
            let (mut screen, mut all) = (Screen::new(SIZE), Screen::new(SIZE));
            for piece in bytes.chunks(size) {
                screen.print(piece);
                // One byte at a time nothing can be left out.
                piece.iter().for_each(|byte| drop(all.print(&[*byte])));
                prop_assert_eq!(screen.cursor(), all.cursor());
                prop_assert_eq!(screen.title(), all.title());
                let (seen, whole) = (screen.parser.screen(), all.parser.screen());
                prop_assert_eq!(seen.state_formatted(), whole.state_formatted());
            }
        }
    }
}
