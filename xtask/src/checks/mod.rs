//! The checks of `tidy`: each a file, each a pure function from the tree to what it found.

pub mod cases;
pub mod dependencies;
pub mod headers;
pub mod layers;
pub mod leftovers;
pub mod limits;
pub mod links;
pub mod modules;
pub mod names;
pub mod seeds;
pub mod sizes;
