//! Blob inventory: the policy of an account, the rows of a rule, and the files that they are written to.
//!
//! ```text
//! rows.rs   rows, a page of a list at a time
//! csv.rs, parquet_file.rs, file.rs   rows as text, in groups of columns, and either of them
//! run.rs    a run of a rule: file, manifest, checksum; daily or weekly
//! ```

mod csv;
mod file;
mod parquet_file;
mod rows;
mod run;

pub use rows::{InventoryRow, InventoryRows};
