//! Real git in real repositories.

#[cfg(test)]
mod change;
#[cfg(test)]
mod commit;
#[cfg(test)]
mod discovery;
#[cfg(test)]
mod held_commit;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod ignoring;
#[cfg(test)]
mod land;
#[cfg(test)]
mod mark;
#[cfg(test)]
mod pruning;
#[cfg(test)]
mod quarantine;
#[cfg(test)]
mod safe_commit;
#[cfg(test)]
mod safe_commit_hooks;
#[cfg(test)]
mod safe_commit_kinds;
#[cfg(test)]
mod safe_commit_repair;
#[cfg(test)]
mod spare_tree;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod status;
#[cfg(test)]
mod worktree;
