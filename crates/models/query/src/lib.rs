//! Cosmos SQL: parsing, binding, planning and executing queries over documents stored elsewhere.
//!
//! ```text
//! text ─ lex ─> tokens ─ parse ─> Ast ─ bind ─> Bound ─ plan ─> Plan ─ execute ─> pages of rows
//! ```
//!
//! Each stage has its own folder and type, and each type can print itself. The parser knows no documents, the
//! planner no storage, the executor no text.

pub mod access;
pub mod bind;
pub mod datum;
pub mod error;
pub mod execute;
pub mod functions;
#[doc(hidden)]
pub mod fuzz;
pub mod lex;
pub mod limits;
pub mod parse;
mod parse_cache;
pub mod plan;
mod prepare;

pub use datum::{Datum, Document, Kind};
pub use error::{Complaint, QueryError};
pub use parse_cache::{ParseCache, TextCache};
pub use prepare::{Prepared, prepare, prepare_for};
