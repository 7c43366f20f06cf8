//! A table as requests hold it: its definition, and where its use is counted.

use crate::usage::TableUsage;
use orrery_tables::Table;
use std::ops::Deref;
use std::sync::Arc;

/// Cheap to clone. It shows the definition that was there when it was looked up; writes through it fail once the table is
/// dropped.
#[derive(Clone, Debug)]
pub struct TableHandle {
    table: Arc<Table>,
    usage: Arc<TableUsage>,
}

impl TableHandle {
    pub(crate) fn new(table: Table, usage: Arc<TableUsage>) -> Self {
        Self { table: Arc::new(table), usage }
    }

    pub fn usage(&self) -> &Arc<TableUsage> {
        &self.usage
    }
}

impl Deref for TableHandle {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.table
    }
}
