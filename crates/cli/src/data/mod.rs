//! The data verbs: `ls`, `get`, `put`, `rm`, `import`, `export`, and `shell`, a prompt for them and for queries.
//!
//! ```text
//! location     database/container/item
//! container    a container over the wire: items by id, by page, in bulk
//! verbs        ls, get, put, rm
//! records      the records of a file: JSON lines, JSON, CSV, Parquet
//! import       records become items; checkpoint remembers how far it came
//! export       items become a file
//! shell        the prompt
//! ```

mod checkpoint;
mod container;
mod export;
mod import;
mod location;
mod records;
mod shell;
mod verbs;

pub use export::{ExportFlags, export};
pub use import::{ImportFlags, import};
pub use shell::{ShellFlags, shell};
pub use verbs::{GetFlags, LsFlags, PutFlags, RmFlags, get, ls, put, rm};
pub(crate) use verbs::{given_items, is_confirmed};
