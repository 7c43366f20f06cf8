//! A second opinion on the query language: a naive evaluator, and random questions for it.
//!
//! ```text
//! seed ─ generate ─> documents, tree ─ write ─> text ─ parse ─> tree ─ run ─> rows ─┐
//!                                            └───── engine (the crate) ─> rows ─┴─ compare_rows?
//! ```
//!
//! The evaluator walks the parse tree over whole values and keeps everything in vectors. It is written from
//! the rules of the language alone and shares nothing with the executor, so a mistake has to be made twice,
//! in two ways, to go unseen. The text is written here too, not by the crate's printer; what the parser reads
//! must be the tree that was meant.

pub mod aggregates;
pub mod compare_rows;
pub mod engine;
pub mod expressions;
pub mod functions;
pub mod generate;
pub mod like;
pub mod normalize;
pub mod operators;
pub mod random;
pub mod run;
pub mod sources;
pub mod write;
