use super::*;

fn path(text: &str) -> TreePath {
    TreePath::from_git(text.as_bytes())
}

fn entries(lines: &[&str]) -> Vec<Entry> {
    let ids = "0".repeat(40);
    let full = |line: &&str| match line.split_once(' ') {
        Some((xy, name)) if xy.len() == 2 => {
            format!("1 {xy} N... 100644 100644 100644 {ids} {ids} {name}\0")
        }
        _ => format!("{line}\0"),
    };
    parse(lines.iter().map(full).collect::<String>().as_bytes()).unwrap()
}

fn decided(form: Form, lines: &[&str], version: Version) -> Result<Plan, StagingRefusal> {
    plan(&[(path("a"), form)], &entries(lines), version, Merging::No)
}

#[test]
fn two_versions_are_refused_unless_one_is_named() {
    for lines in [&["MM a"][..], &["AM a"], &["D. a", "? a"], &["AD a"]] {
        assert_eq!(
            decided(Form::File, lines, Version::Only),
            Err(StagingRefusal::TwoVersions(vec![path("a")])),
            "{lines:?}"
        );
        assert!(decided(Form::File, lines, Version::Staged).is_ok());
        assert!(decided(Form::File, lines, Version::Tree).is_ok());
    }
    for line in ["M. a", ".M a", "A. a", ".D a", ".T a", "D. a", ".A a"] {
        let plan = decided(Form::File, &[line], Version::Only).unwrap();
        assert_eq!(plan.changed, [path("a")], "{line}");
        assert_eq!(plan.unknown_to_git, [], "{line}");
    }
}

#[test]
fn what_git_does_not_know_is_told_to_it_first() {
    let plan = decided(Form::File, &["? a"], Version::Only).unwrap();
    assert_eq!(
        (plan.changed, plan.unknown_to_git),
        (vec![path("a")], vec![path("a")])
    );
}

#[test]
fn what_cannot_be_meant_is_refused_by_name() {
    let table: [(Form, &[&str], &str); 7] = [
        (
            Form::Directory,
            &["? a/b", ".M a/c", "? ab"],
            "`a` is a directory; name the files",
        ),
        (Form::File, &["! a"], "`a` is ignored by git"),
        (Form::Absent, &[], "`a` is neither in the tree nor in HEAD"),
        (Form::File, &[], "nothing has changed in the declared paths"),
        (
            Form::Repository,
            &["? a/"],
            "`a` is a git repository of its own, whose files would be lost",
        ),
        (
            Form::File,
            &["? b"],
            "nothing has changed in the declared paths",
        ),
        (
            Form::File,
            &["u UU N... 1 2 3 4 x y z a"],
            "`a` is still in conflict",
        ),
    ];
    for (form, lines, says) in table {
        let refusal = decided(form, lines, Version::Only).unwrap_err();
        assert_eq!(refusal.to_string(), says);
    }
    let refusal = decided(Form::Directory, &["? a/b", ".M a/c"], Version::Only);
    let changed = vec![path("a/b"), path("a/c")];
    let paths = vec![path("a")];
    assert_eq!(refusal, Err(StagingRefusal::Directory { paths, changed }));
}

#[test]
fn only_what_is_staged_is_a_staged_version() {
    assert_eq!(
        decided(Form::File, &[".M a"], Version::Staged),
        Err(StagingRefusal::Unchanged)
    );
}

#[test]
fn a_path_below_an_ignored_directory_is_ignored() {
    let declared = [(path("target/x"), Form::File)];
    let refusal = plan(
        &declared,
        &entries(&["! target/"]),
        Version::Only,
        Merging::No,
    );
    assert_eq!(
        refusal,
        Err(StagingRefusal::Ignored(vec![path("target/x")]))
    );
}
