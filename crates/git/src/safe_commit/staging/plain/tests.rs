use std::fs::Permissions;
use std::os::unix::fs::symlink;

use handoff_testkit::{GitRepo, TestEnv};

use super::*;

const PATHS: [&str; 3] = ["top", "deep/er/file", "run.sh"];

struct Play {
    env: TestEnv,
    repo: GitRepo,
}

impl Play {
    /// A repository with a few files in its newest commit, beside what somebody else has staged.
    fn new() -> Self {
        let env = TestEnv::without_binary();
        let repo = env.repo("repo");
        for path in PATHS.into_iter().chain(["other", "deep/other"]) {
            repo.write(path, path);
        }
        fs::set_permissions(repo.path().join("run.sh"), Permissions::from_mode(0o755)).unwrap();
        repo.commit("base");
        repo.write("other", "staged by others")
            .git(["add", "other"]);
        Self { env, repo }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.repo.path().join(name)
    }

    /// What is found here, and what git says.
    fn looks(&self, paths: &[&str]) -> (Option<Vec<Entry>>, Vec<Entry>) {
        let command = self.env.command("git");
        let variables = { command.get_envs() }
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        let git = Git::new(variables);
        let at = Repository::open(self.repo.path()).unwrap();
        let paths: Vec<_> = { paths.iter() }
            .map(|it| TreePath::from_git(it.as_bytes()))
            .collect();
        let asked = git.ask_staging(&at, &paths).unwrap();
        (git.plain_staging(&at, &paths), asked)
    }
}

/// Something that is done to a repository, and what it is.
type Act = (&'static str, fn(&Play));

#[test]
fn what_is_found_is_what_git_says() {
    let acts: [Act; 8] = [
        ("nothing", |_| {}),
        ("edited, of the same length", |it| {
            it.repo.write("top", "tpo");
        }),
        ("edited below", |it| {
            it.repo.write("deep/er/file", "longer than it was");
        }),
        ("staged", |it| {
            it.repo.write("run.sh", "new").git(["add", "run.sh"]);
        }),
        ("staged and edited", |it| {
            it.repo.write("top", "new").git(["add", "top"]);
            it.repo.write("top", "newer");
        }),
        ("staged, and put back in the tree", |it| {
            it.repo.write("top", "new").git(["add", "top"]);
            it.repo.write("top", "top");
        }),
        ("touched", |it| {
            let file = fs::File::options().append(true).open(it.path("top"));
            file.unwrap()
                .set_modified(std::time::SystemTime::UNIX_EPOCH)
                .unwrap();
        }),
        ("emptied", |it| {
            it.repo.write("top", "");
        }),
    ];
    for (what, act) in acts {
        let play = Play::new();
        act(&play);
        let (found, asked) = play.looks(&PATHS);
        let sorted = |mut entries: Vec<Entry>| {
            entries.sort_by(|one, other| one.path.cmp(&other.path));
            entries
        };
        assert_eq!(found.map(sorted), Some(sorted(asked)), "{what}");
    }
}

#[test]
fn a_file_that_no_commit_has_is_staged() {
    let play = Play::new();
    for path in ["new", "deep/new", "newer/still"] {
        play.repo.write(path, "new").git(["add", path]);
        let (found, asked) = play.looks(&[path]);
        assert_eq!(found, Some(asked), "{path}");
    }
}

#[test]
fn what_is_not_plain_is_left_to_git() {
    let acts: [Act; 18] = [
        ("gone", |it| fs::remove_file(it.path("top")).unwrap()),
        ("unknown to git", |it| {
            it.repo.git(["rm", "--quiet", "--cached", "top"]);
        }),
        ("a program by now", |it| {
            fs::set_permissions(it.path("top"), Permissions::from_mode(0o755)).unwrap();
        }),
        ("a link by now", |it| {
            fs::remove_file(it.path("top")).unwrap();
            symlink("other", it.path("top")).unwrap();
        }),
        ("beyond a link by now", |it| {
            fs::rename(it.path("deep"), it.path("moved")).unwrap();
            symlink("moved", it.path("deep")).unwrap();
        }),
        ("a link in HEAD", |it| {
            fs::remove_file(it.path("top")).unwrap();
            symlink("other", it.path("top")).unwrap();
            it.repo.git(["add", "top"]);
            it.repo
                .git(["commit", "--quiet", "-m", "link", "--", "top"]);
            fs::remove_file(it.path("top")).unwrap();
            it.repo.write("top", "file").git(["add", "top"]);
        }),
        ("assumed to be unchanged", |it| {
            it.repo.git(["update-index", "--assume-unchanged", "top"]);
        }),
        ("skipped", |it| {
            it.repo.git(["update-index", "--skip-worktree", "top"]);
        }),
        ("only meant to be added", |it| {
            it.repo.git(["rm", "--quiet", "--cached", "top"]);
            it.repo.git(["add", "--intent-to-add", "top"]);
        }),
        ("long", |it| {
            it.repo.write("top", "x".repeat(300_000));
        }),
        ("attributes in the tree", |it| {
            it.repo.write(".gitattributes", "* text\n");
        }),
        ("attributes below", |it| {
            it.repo.write("deep/.gitattributes", "* text\n");
        }),
        ("attributes in the index alone", |it| {
            it.repo
                .write("deep/.gitattributes", "* text\n")
                .git(["add", "deep"]);
            fs::remove_file(it.path("deep/.gitattributes")).unwrap();
        }),
        ("attributes of the repository", |it| {
            it.repo.write(".git/info/attributes", "* text\n");
        }),
        ("other line ends", |it| {
            it.repo.git(["config", "core.autocrlf", "input"]);
        }),
        ("attributes elsewhere", |it| {
            it.repo.git(["config", "core.attributesFile", "elsewhere"]);
        }),
        ("packed", |it| {
            it.repo.git(["repack", "--quiet", "-a", "-d"]);
        }),
        ("something in the place of HEAD", |it| {
            let tree = it.repo.git(["write-tree"]);
            let other = it.repo.git(["commit-tree", "-m", "other", &tree]);
            it.repo.git(["replace", "HEAD", &other]);
            it.repo.git(["pack-refs", "--all"]);
        }),
    ];
    assert!(Play::new().looks(&PATHS).0.is_some());
    for (what, act) in acts {
        let play = Play::new();
        act(&play);
        assert_eq!(play.looks(&PATHS).0, None, "{what}");
    }
    let many = ["top"; FEW + 1];
    assert_eq!(Play::new().looks(&many).0, None);
    assert_eq!(Play::new().looks(&[]).0, None);
}
