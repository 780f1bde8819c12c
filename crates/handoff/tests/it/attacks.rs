//! What a sub-task that does not keep to its role can do to others: each attack is tried in a shared
//! tree, from a worktree of its own, and from such a worktree in the sandbox.
//!
//! The victim is the main tree: refs, index, configuration and files of others in it. `docs/attacks.md`
//! is made from the table; with `HANDOFF_WRITE_DOCS` set the test of the page writes it.

mod answers;
pub(crate) mod commands;
mod page;
mod rights;
mod scene;
mod sockets;
mod table;

use handoff_testkit::{Need, skip_without};

use self::scene::Scene;
use self::table::{ATTACKS, Attack, BY_LIBGIT2, Column, End};

/// The attacks are tried in so many parts, so that no test takes long, also where ten others want the processor.
const PARTS: usize = 12;

/// Tries a part of the attacks from one place, and compares with what the table says.
fn try_part(column: Column, part: usize, expected: impl Fn(&Attack) -> End) {
    let attacks = ATTACKS.iter().skip(part).step_by(PARTS);
    try_all(column, attacks, expected);
}

fn try_all<'a>(
    column: Column,
    attacks: impl Iterator<Item = &'a Attack>,
    expected: impl Fn(&Attack) -> End,
) {
    let mut wrong = vec![];
    let scene = Scene::new(column);
    for attack in attacks {
        let end = scene.end(attack.script);
        let expected = expected(attack);
        if end != expected {
            wrong.push(format!("{}: {end:?}, not {expected:?}", attack.name));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// One test for each part.
macro_rules! parts {
    ($($name:ident = $part:literal;)*) => {
        $(mod $name {
            use super::*;

            #[test]
            fn in_a_shared_tree_attacks_end_as_the_table_says() {
                try_part(Column::Shared, $part, |attack| attack.shared);
            }

            #[test]
            fn from_a_worktree_attacks_end_as_the_table_says() {
                try_part(Column::Worktree, $part, |attack| attack.worktree);
            }

            #[test]
            fn from_the_sandbox_every_attack_is_refused() {
                if skip_without(&[Need::Landlock]) {
                    return;
                }
                try_part(Column::Landlock, $part, |_| End::Refused);
            }
        })*
    };
}

parts! {
    first = 0;
    second = 1;
    third = 2;
    fourth = 3;
    fifth = 4;
    sixth = 5;
    seventh = 6;
    eighth = 7;
    ninth = 8;
    tenth = 9;
    eleventh = 10;
    twelfth = 11;
}

mod by_libgit2 {
    use super::*;

    #[test]
    fn in_a_shared_tree_attacks_end_as_the_table_says() {
        if !skip_without(&[Need::Libgit2]) {
            try_all(Column::Shared, BY_LIBGIT2.iter(), |attack| attack.shared);
        }
    }

    #[test]
    fn from_a_worktree_attacks_end_as_the_table_says() {
        if !skip_without(&[Need::Libgit2]) {
            let expected = |attack: &Attack| attack.worktree;
            try_all(Column::Worktree, BY_LIBGIT2.iter(), expected);
        }
    }

    #[test]
    fn from_the_sandbox_every_attack_is_refused() {
        if !skip_without(&[Need::Libgit2, Need::Landlock]) {
            try_all(Column::Landlock, BY_LIBGIT2.iter(), |_| End::Refused);
        }
    }
}

fn ask_servers(column: Column) {
    for way in sockets::Way::ALL {
        let scene = Scene::new(column);
        scene.serve();
        let end = scene.end(&sockets::script(way));
        assert_eq!(end, way.end(column), "{way:?}");
    }
}

#[test]
fn in_a_shared_tree_servers_do_what_they_are_asked() {
    ask_servers(Column::Shared);
}

#[test]
fn from_a_worktree_servers_do_what_they_are_asked() {
    ask_servers(Column::Worktree);
}

#[test]
fn from_the_sandbox_servers_are_reached_as_the_table_says() {
    if !skip_without(&[Need::Landlock]) {
        ask_servers(Column::Landlock);
    }
}

/// What the page says that Landlock does not hold.
#[test]
fn from_the_sandbox_a_mode_is_changed_and_content_and_name_are_not() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let scene = Scene::new(Column::Landlock);
    let script = "chmod 600 edited && stat --format %a edited";
    assert_eq!(scene.run(script).success().stdout, "600\n");
    assert_eq!(scene.end(script), End::Refused);
}

#[test]
fn from_the_sandbox_nothing_is_typed_into_a_terminal() {
    if skip_without(&[Need::Landlock]) {
        return;
    }
    let scene = Scene::new(Column::Landlock);
    // What is no terminal says 25 to every request of one, unless the kernel says 1 before it is asked.
    let script = "python3 -c \"
import fcntl, termios
for request in termios.TIOCSTI, 0x541c, termios.TIOCGWINSZ:
    try: fcntl.ioctl(open('/dev/null'), request, b'x')
    except OSError as error: print(error.errno)
\"";
    assert_eq!(scene.run(script).success().stdout, "1\n1\n25\n");
}
