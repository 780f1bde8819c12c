//! What must hold for the workspace as a whole.

mod crate_graph;
mod doors;
mod test_files;
