//! What must hold for the workspace as a whole.

mod crate_graph;
mod test_files;
