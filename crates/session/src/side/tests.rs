use super::*;

const fn identity(pid: u32) -> Identity {
    Identity { pid, started: 0 }
}

fn id(number: u8) -> SessionId {
    format!("ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f{number:02x}")
        .parse()
        .unwrap()
}

fn held(number: u8) -> Held {
    Held {
        session: id(number),
        role: Role::Main,
        task: None,
        is_sandboxed: false,
        may_answer: false,
    }
}

fn confining(number: u8) -> Held {
    Held {
        is_sandboxed: true,
        ..held(number)
    }
}

const fn link(pid: u32, filters: u32, kind: Kind) -> Link {
    Link {
        identity: identity(pid),
        filters,
        kind,
    }
}

/// The holder that is asked is 10, below that of its starter, which is 1. All sessions are on record at the process with ten
/// times their number; session 1 at process 1.
fn side(chain: &[Link]) -> Side {
    let target = Target {
        holder: identity(10),
        above: &[identity(1)],
    };
    judge(chain, Some(target), |process, session| {
        (1..=9).any(|number| {
            let holder = if number == 9 {
                1
            } else {
                u32::from(number) * 10
            };
            session == id(number) && process == identity(holder)
        })
    })
}

fn member(number: u8, relation: Relation) -> Side {
    Side::Session(Member {
        session: id(number),
        role: Role::Main,
        task: None,
        relation,
        is_sandboxed: false,
        may_answer: false,
    })
}

fn sandboxed(number: u8, relation: Relation) -> Side {
    match member(number, relation) {
        Side::Session(it) => Side::Session(Member {
            is_sandboxed: true,
            ..it
        }),
        other @ (Side::Outside | Side::Check | Side::Unknown) => other,
    }
}

#[test]
fn where_a_process_comes_from_follows_from_what_is_above_it() {
    use Kind::{Check, Holder, Nameless, Other};
    let init = link(100, 0, Other);
    let shell = |pid| link(pid, 0, Other);
    let starter = link(1, 0, Holder(held(9)));
    let own = link(10, 0, Holder(held(1)));
    let another = link(20, 0, Holder(held(2)));
    let table: [(&str, &[Link], Side); 14] = [
        ("a person", &[shell(5), init], Side::Outside),
        ("nobody", &[], Side::Unknown),
        (
            "its agent",
            &[shell(11), own, starter, init],
            member(1, Relation::Itself),
        ),
        (
            "what this holder does for its session",
            &[shell(12), own, init],
            member(1, Relation::Itself),
        ),
        (
            "the session that started it",
            &[shell(2), starter, init],
            member(9, Relation::Started),
        ),
        (
            "one that it started",
            &[shell(21), another, shell(13), own, starter, init],
            member(2, Relation::Above),
        ),
        (
            "one beside it",
            &[shell(21), another, init],
            member(2, Relation::Beside),
        ),
        (
            "one beside it that the same session started",
            &[shell(21), another, starter, init],
            member(2, Relation::Beside),
        ),
        (
            "one below a program with the words of the starter's holder",
            &[shell(22), link(25, 0, Holder(held(9))), another, init],
            member(2, Relation::Beside),
        ),
        (
            "its agent below a program with the words of the starter's holder",
            &[shell(22), link(15, 0, Holder(held(9))), own, starter, init],
            member(1, Relation::Above),
        ),
        (
            "one below a program with half of the words",
            &[shell(22), link(25, 0, Nameless), another, init],
            member(2, Relation::Beside),
        ),
        (
            "one below such a program only",
            &[shell(22), link(25, 0, Nameless), init],
            Side::Unknown,
        ),
        (
            "a check, also within a session",
            &[shell(41), link(40, 0, Check), another, init],
            Side::Check,
        ),
        (
            "a session within a check",
            &[shell(41), another, link(40, 0, Check), init],
            Side::Check,
        ),
    ];
    for (who, chain, expected) in table {
        assert_eq!(side(chain), expected, "{who}");
    }
}

#[test]
fn a_sandbox_is_seen_by_its_filters() {
    use Kind::{Holder, Other};
    let own = link(10, 0, Holder(confining(1)));
    let another = link(20, 0, Holder(confining(2)));
    let table: [(&str, &[Link], Side); 5] = [
        (
            "its agent",
            &[link(11, 1, Other), own],
            sandboxed(1, Relation::Itself),
        ),
        (
            "an orphan of another agent",
            &[link(29, 1, Other), another],
            sandboxed(2, Relation::Beside),
        ),
        (
            "an agent that tightened its own sandbox",
            &[link(29, 3, Other), link(21, 0, Other), another],
            sandboxed(2, Relation::Beside),
        ),
        (
            "what another holder does for its session",
            &[link(22, 0, Other), another],
            member(2, Relation::Beside),
        ),
        (
            "an agent in no sandbox, with a filter of its own",
            &[link(31, 1, Other), link(30, 0, Holder(held(3)))],
            member(3, Relation::Beside),
        ),
    ];
    for (who, chain, expected) in table {
        assert_eq!(side(chain), expected, "{who}");
    }
}

#[test]
fn words_of_a_holder_take_rights_away_and_never_add_any() {
    use Kind::{Holder, Other};
    let role = |chain: &[Link]| match side(chain) {
        Side::Session(it) => (it.role, it.task.is_some(), it.may_answer),
        Side::Outside | Side::Check | Side::Unknown => panic!("it is a session's"),
    };
    let part = Held {
        role: Role::SubTask,
        ..held(2)
    };
    let forged = Held {
        task: Some("task_0192f0c47d0a7c3e9f5b2a1c3d4e5f60".parse().unwrap()),
        may_answer: true,
        ..held(9)
    };
    let (peer, fake) = (link(21, 0, Other), link(25, 0, Holder(forged)));
    let real = link(20, 0, Holder(part));
    assert_eq!(role(&[peer, fake, real]), (Role::SubTask, false, false));
    // A home in which none of them is on record.
    assert_eq!(
        role(&[peer, fake, link(26, 0, Holder(part))]).0,
        Role::SubTask
    );
    assert!(!role(&[peer, fake, link(26, 0, Holder(held(7)))]).1);
    let granted = Held {
        may_answer: true,
        ..held(2)
    };
    assert!(role(&[peer, link(20, 0, Holder(granted))]).2);
}

#[test]
fn the_words_of_a_holder_are_read_up_to_those_of_its_agent() {
    let words = |text: &str| -> Vec<OsString> { text.split(' ').map(Into::into).collect() };
    let session = id(1);
    let text = format!("--warden 7 --session {session} --role=main --sandbox=worktree -- bash");
    let expected = Held {
        is_sandboxed: true,
        ..held(1)
    };
    assert_eq!(Held::parse(&words(&text)), Some(expected));
    let text =
        format!("--session={session} -- x --answers-children --role=main --sandbox=worktree");
    let expected = Held {
        role: Role::SubTask,
        ..held(1)
    };
    assert_eq!(Held::parse(&words(&text)), Some(expected));
    assert_eq!(Held::parse(&words("--sessions x -- --session y")), None);
}
