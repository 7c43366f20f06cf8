//! An indexing policy prepared for use: the tree of its paths, its composite and spatial indexes, and its generations.
//!
//! `models/documents` walks the tree beside an item to make index terms; the catalog compares prepared policies to tell
//! whether a replaced one indexes anything differently.

mod generations;
pub mod number;
mod rules;
mod tree;

pub use generations::{Generations, Older};
pub use rules::{Composite, Source};
pub use rules::{IndexRules, steps};
pub use tree::{Spot, Tree};
