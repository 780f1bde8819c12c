//! Commands that belong together and have no directory of their own.

pub(super) mod around;
mod own;
pub(super) mod packages;
pub(super) mod tasks;
pub(super) mod workflows;

pub(super) use self::around::Command as Around;
pub(super) use self::own::Command as Own;
pub(super) use self::packages::Command as Packages;
pub(super) use self::tasks::Command as Tasks;
pub(super) use self::workflows::Command as Workflows;
