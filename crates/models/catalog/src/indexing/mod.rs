//! An indexing policy prepared for use: the tree of its paths, its composite and spatial indexes, and its generations.
//!
//! `models/documents` walks the tree along an item to produce index terms; the catalog compares prepared
//! policies to decide whether a replacement changes what is indexed.

mod generations;
pub mod number;
mod rules;
mod tree;

pub use generations::{Generations, Older};
pub use rules::{Composite, Source};
pub use rules::{IndexRules, steps};
pub use tree::{Spot, Tree};
