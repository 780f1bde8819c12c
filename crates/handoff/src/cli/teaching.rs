//! What teaches people and agents to use all this: the guide, the recipes, and skills for agents. Their texts are files of this
//! crate, and a test reads every command line in them as the program would.

pub(super) mod guide;
pub(super) mod recipes;
pub(super) mod skills;

#[cfg(test)]
mod lesson;
