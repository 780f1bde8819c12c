//! The files that a process has open.

use std::path::PathBuf;

/// The files that a process has open, as the kernel names them now. A process that is gone, or somebody else's, has none.
#[must_use]
pub fn open_files(pid: u32) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
        return vec![];
    };
    let links = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    links.filter(|path| path.is_absolute()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_file_is_listed_and_a_strange_process_has_none() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().canonicalize().unwrap();
        assert!(open_files(std::process::id()).contains(&path));
        assert!(open_files(u32::MAX).is_empty());
    }
}
