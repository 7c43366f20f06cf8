//! Blob inventory: a policy of rules, and the rows that a rule makes of blobs and containers (wire guide §9.5).
//!
//! Writing the rows as CSV or Parquet is not in here.

mod column;
mod history;
mod policy;

pub use column::{Column, ColumnKind, Value, blob_value, container_value};
pub use history::{InventoryRun, runs, save_run};
pub use policy::{
    CreationTime, InventoryFilters, InventoryFormat, InventoryObject, InventoryPolicy, InventoryRule,
    InventorySchedule, accounts, load_policy, save_policy,
};
