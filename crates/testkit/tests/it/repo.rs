use handoff_testkit::TestEnv;

#[test]
fn a_repository_starts_with_one_commit_on_main() {
    let env = TestEnv::without_binary();
    let repo = env.repo("project");
    let head = repo.head();
    assert_eq!(
        repo.refs(),
        [("refs/heads/main".to_owned(), head.clone())].into()
    );
    assert_eq!(repo.files_of(&head), ["README.md"]);
    assert_eq!(
        repo.git(["log", "--format=%an <%ae> %s"]),
        "Test <test@example.org> first"
    );
    assert_eq!(repo.status(), [""; 0]);
}

#[test]
fn the_first_commit_is_the_same_in_every_run() {
    let env = TestEnv::without_binary();
    assert_eq!(env.repo("one").head(), env.repo("two").head());
}

#[test]
fn a_commit_holds_what_was_written() {
    let env = TestEnv::without_binary();
    let repo = env.repo("project");
    let commit = repo
        .write("src/a b.rs", "one\n")
        .write("ü", "two\n")
        .commit("second");
    assert_eq!(repo.files_of(&commit), ["README.md", "src/a b.rs", "ü"]);
    assert_eq!(repo.changes_of(&commit), ["src/a b.rs", "ü"]);
    assert_eq!(repo.file_of(&commit, "src/a b.rs"), "one\n");
    assert_eq!(repo.resolve("HEAD^{commit}"), Some(commit));
    assert_eq!(repo.resolve("refs/heads/other"), None);
}

#[test]
fn status_shows_what_is_not_committed() {
    let env = TestEnv::without_binary();
    let repo = env.repo("project");
    repo.write("README.md", "changed").write("new/file", "");
    assert_eq!(repo.status(), [" M README.md", "?? new/file"]);
    assert_eq!(repo.read("new/file").as_deref(), Some(""));
    assert_eq!(repo.read("no/file"), None);
}

#[test]
fn a_sound_repository_passes_fsck() {
    let env = TestEnv::without_binary();
    env.repo("project").fsck();
}

#[test]
#[should_panic(expected = "fsck")]
fn a_damaged_repository_fails_fsck() {
    let env = TestEnv::without_binary();
    let repo = env.repo("project");
    let head = repo.head();
    let (directory, file) = head.split_at(2);
    std::fs::remove_file(repo.path().join(".git/objects").join(directory).join(file)).unwrap();
    repo.fsck();
}
