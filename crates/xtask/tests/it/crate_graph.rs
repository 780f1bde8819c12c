//! Arrows between crates point downwards, and each crate keeps out what its row says.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

/// What a crate may depend on, and why not on more.
struct Crate {
    name: &'static str,
    may_use: &'static [&'static str],
    reason: &'static str,
}

/// A store beside the binary is for checking and for comparing.
const CHORE: [&str; 7] = [
    "handoff-chores",
    "handoff-core",
    "handoff-files",
    "handoff-process",
    "handoff-session",
    "handoff-store",
    "handoff-testkit",
];

const CRATES: [Crate; 20] = [
    Crate {
        name: "handoff-core",
        may_use: &[],
        reason: "decisions are pure: whatever does I/O depends on core, never the other way round",
    },
    Crate {
        name: "handoff-api",
        may_use: &["handoff-core"],
        reason: "wire types change with their schema only, not with how the work is done",
    },
    Crate {
        name: "handoff-files",
        may_use: &["handoff-core"],
        reason: "atomic files and locks lie below everything that needs them",
    },
    Crate {
        name: "handoff-agents",
        may_use: &["handoff-core"],
        reason: "what is known of an agent CLI is data and pure functions, testable without one",
    },
    Crate {
        name: "handoff-process",
        may_use: &["handoff-core", "handoff-files"],
        reason: "starting and ending processes knows nothing of tasks, stores or git",
    },
    Crate {
        name: "handoff-guard",
        may_use: &[],
        reason: "every git of a session starts it, so nothing may be in it that costs a start",
    },
    Crate {
        name: "handoff-git",
        may_use: &[
            "handoff-core",
            "handoff-files",
            "handoff-process",
            "handoff-guard",
        ],
        reason: "git is guarded by what it is told, so it must not look into the store",
    },
    Crate {
        name: "handoff-package",
        may_use: &["handoff-core", "handoff-files"],
        reason: "opening a package must not be able to run anything: no process, no git",
    },
    Crate {
        name: "handoff-workspace",
        may_use: &["handoff-core", "handoff-files"],
        reason: "documents of a repository are only text: nothing in them can run anything",
    },
    Crate {
        name: "handoff-store",
        may_use: &["handoff-core", "handoff-files"],
        reason: "a transaction must not be able to wait for a process or for git",
    },
    Crate {
        name: "handoff-scripted",
        may_use: &["handoff-core", "handoff-agents"],
        reason: "the scripted agent is a program like any agent, outside of what runs it",
    },
    Crate {
        name: "handoff-session",
        may_use: &[
            "handoff-core",
            "handoff-files",
            "handoff-process",
            "handoff-agents",
        ],
        reason: "a holder must not be able to open the store or run git",
    },
    Crate {
        name: "handoff-engine",
        may_use: &[
            "handoff-core",
            "handoff-api",
            "handoff-files",
            "handoff-process",
            "handoff-git",
            "handoff-store",
            "handoff-package",
            "handoff-workspace",
            "handoff-agents",
            "handoff-session",
        ],
        reason: "the engine serves every front end and an agent of any kind, so it knows none",
    },
    Crate {
        name: "handoff-operations",
        may_use: &[
            "handoff-core",
            "handoff-api",
            "handoff-files",
            "handoff-agents",
            "handoff-process",
            "handoff-git",
            "handoff-guard",
            "handoff-package",
            "handoff-workspace",
            "handoff-store",
            "handoff-session",
            "handoff-engine",
        ],
        reason: "an operation is the same at every door, so it must not know clap, a terminal or a page",
    },
    Crate {
        name: "handoff",
        may_use: &[
            "handoff-core",
            "handoff-api",
            "handoff-files",
            "handoff-agents",
            "handoff-process",
            "handoff-git",
            "handoff-guard",
            "handoff-package",
            "handoff-workspace",
            "handoff-store",
            "handoff-scripted",
            "handoff-session",
            "handoff-engine",
            "handoff-operations",
        ],
        reason: "what we ship holds no test code",
    },
    Crate {
        name: "handoff-testkit",
        may_use: &["handoff-core", "handoff-files", "handoff-process"],
        reason: "every crate tests with the kit, so it must lie below the ones with most tests",
    },
    Crate {
        name: "handoff-chores",
        may_use: &[],
        reason: "a chore that needs no product code builds without it",
    },
    Crate {
        name: "xtask",
        may_use: &[
            "handoff-chores",
            "handoff-core",
            "handoff-files",
            "handoff-process",
            "handoff-session",
            "handoff-testkit",
        ],
        reason: "tests and measures need no store, and are begun with first",
    },
    Crate {
        name: "campaign",
        may_use: &CHORE,
        reason: "faults are done to the binary as users run it, by its command line",
    },
    Crate {
        name: "bench",
        may_use: &CHORE,
        reason: "what is measured is the binary as users run it, by its command line",
    },
];

/// An arrow from a crate of the workspace to another one.
#[derive(Debug)]
struct Arrow {
    from: String,
    to: String,
    kind: DependencyKind,
}

fn arrows(metadata: &Metadata) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    for package in metadata.workspace_packages() {
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| dependency.path.is_some())
        {
            arrows.push(Arrow {
                from: package.name.to_string(),
                to: dependency.name.clone(),
                kind: dependency.kind,
            });
        }
    }
    arrows
}

/// What is wrong with an arrow, and what to do about it.
fn objection(arrow: &Arrow) -> Option<String> {
    let Arrow { from, to, kind } = arrow;
    let Some(row) = CRATES.iter().find(|row| row.name == from) else {
        return Some(format!(
            "`{from}` is not in the table of {}. A new crate names the dependency that it makes \
             impossible; if there is none, it is a module.",
            file!()
        ));
    };
    let is_test_code = *kind == DependencyKind::Development && to == "handoff-testkit";
    if row.may_use.contains(&to.as_str()) || is_test_code {
        return None;
    }
    Some(format!(
        "`{from}` may not depend on `{to}`: {}. Move the shared part down into a crate that both \
         may use, or pass it in as a value.",
        row.reason
    ))
}

fn metadata() -> Metadata {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    let mut command = MetadataCommand::new();
    command.manifest_path(manifest).no_deps();
    command.exec().expect("cargo describes its own workspace")
}

#[test]
fn every_arrow_points_downwards() {
    let objections: Vec<String> = arrows(&metadata()).iter().filter_map(objection).collect();
    assert!(objections.is_empty(), "\n{}\n", objections.join("\n"));
}

#[test]
fn every_crate_is_in_the_table_and_nothing_else_is() {
    let metadata = metadata();
    let mut crates: Vec<&str> = metadata
        .workspace_packages()
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let mut table: Vec<&str> = CRATES.iter().map(|row| row.name).collect();
    crates.sort_unstable();
    table.sort_unstable();
    assert_eq!(crates, table);
}

#[test]
fn the_table_itself_has_no_cycle() {
    let mut below: Vec<&str> = Vec::new();
    while below.len() < CRATES.len() {
        let is_next = |row: &&Crate| {
            !below.contains(&row.name) && row.may_use.iter().all(|name| below.contains(name))
        };
        let next = CRATES
            .iter()
            .find(is_next)
            .expect("some crate depends on those below it only");
        below.push(next.name);
    }
}

#[test]
fn an_arrow_upwards_is_objected_to_by_both_names() {
    let arrow = |from: &str, to: &str, kind| Arrow {
        from: from.to_owned(),
        to: to.to_owned(),
        kind,
    };
    let upwards = arrow("handoff-core", "handoff-store", DependencyKind::Normal);
    let text = objection(&upwards).unwrap();
    assert!(
        text.contains("`handoff-core`") && text.contains("`handoff-store`"),
        "{text}"
    );

    let kit = |kind| objection(&arrow("handoff-core", "handoff-testkit", kind));
    assert!(kit(DependencyKind::Normal).is_some());
    assert!(kit(DependencyKind::Development).is_none());
}
