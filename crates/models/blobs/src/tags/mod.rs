//! Index tags: what they are, conditions on them, and finding blobs by them.

mod filter;
mod find;
mod parse;
mod set;

pub use filter::{Comparison, Operator, TagExpression, TagFilter, TagSyntaxError};
pub use find::{ContainerFind, ContainerFound, FindMarker, FindPosition, find};
pub use set::{InvalidTags, TagSet};
