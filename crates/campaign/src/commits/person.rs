//! D17 and D43: a person commits with plain git, while we commit or look.

use std::thread;

use anyhow::Result;

use super::super::stage::{Findings, Stage};
use super::hook;

/// D17: one who prepared before another committed takes nothing back.
pub(crate) fn stale(stage: &mut Stage) -> Result<()> {
    stage.trial("prepared before another's commit", |stage| {
        let product = stage.product();
        let repo = &product.repo;
        repo.write("a", "old").write("b", "old");
        repo.commit("base");
        let mut complaints = vec![];
        let rounds = stage.count(3, 50);
        for round in 0..rounds {
            let text = format!("{round}");
            // The hook is where another commits, after all was prepared; plain git, as people use it.
            hook(&product, &format!(
                "rm \"$0\"\nunset GIT_INDEX_FILE\necho {text} > b; echo {text} > new-{text}\ngit add b new-{text} && git commit -q -m theirs"
            ));
            repo.write("a", &text);
            product.answer(["safe-commit", "-m", "mine", "--", "a"])?;
            for (path, what) in [("a", "a"), ("b", "b"), (&*format!("new-{text}"), "new")] {
                if repo.file_of("HEAD", path).trim_end() != text {
                    complaints.push(format!("round {round}: {what} was taken back"));
                }
            }
        }
        Ok(Findings {
            count: rounds,
            note: String::new(),
            complaints,
        })
    });
    Ok(())
}

/// D43: a person commits while we look; they never meet a lock of ours.
pub(crate) fn looking(stage: &mut Stage) -> Result<()> {
    stage.trial("a person commits while we look", |stage| {
        let product = stage.product();
        product.answer(["init", "feature"])?;
        let commits = stage.count(20, 200);
        let mut complaints = vec![];
        thread::scope(|scope| -> Result<()> {
            let (product, (sender, ended)) = (&product, std::sync::mpsc::channel::<()>());
            scope.spawn(move || {
                let is_over =
                    || ended.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected);
                while !is_over() {
                    product.run(["status"]);
                    product.run(["worktree", "list"]);
                }
            });
            for number in 0..commits {
                product.repo.write("file", format!("{number}"));
                let mut command =
                    product
                        .repo
                        .command(["commit", "-q", "-a", "--allow-empty", "-m", "x"]);
                let output = command.output()?;
                if !output.status.success() {
                    complaints.push(String::from_utf8_lossy(&output.stderr).into_owned());
                }
            }
            drop(sender);
            Ok(())
        })?;
        Ok(Findings {
            count: commits,
            note: String::new(),
            complaints,
        })
    });
    Ok(())
}
