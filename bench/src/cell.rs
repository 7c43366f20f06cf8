//! One workload: an operation on items of one size over a number of connections.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Read,
    Create,
    Upsert,
    Replace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Kb1,
    Kb50,
}

/// Over which partitions the items of a run are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    Many,
    OneHot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub operation: Operation,
    pub size: Size,
    pub connections: usize,
    pub spread: Spread,
}

impl Operation {
    pub const ALL: [Self; 4] = [Self::Read, Self::Create, Self::Upsert, Self::Replace];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Create => "create",
            Self::Upsert => "upsert",
            Self::Replace => "replace",
        }
    }

    /// The status of success, as the server answers it; an upsert here is of an item that is there.
    pub const fn status(self) -> u16 {
        match self {
            Self::Create => 201,
            Self::Read | Self::Upsert | Self::Replace => 200,
        }
    }
}

impl Size {
    pub const ALL: [Self; 2] = [Self::Kb1, Self::Kb50];

    pub const fn bytes(self) -> usize {
        match self {
            Self::Kb1 => 1024,
            Self::Kb50 => 50 * 1024,
        }
    }

    /// The name of the container or table that holds items of this size.
    pub const fn container(self) -> &'static str {
        match self {
            Self::Kb1 => "kb1",
            Self::Kb50 => "kb50",
        }
    }

    /// Items that are there before a run; what reads, upserts and replaces choose from. All fit in memory.
    pub const fn set_items(self) -> u64 {
        match self {
            Self::Kb1 => 10_000,
            Self::Kb50 => 1_000,
        }
    }
}

impl Cell {
    pub const fn new(operation: Operation, size: Size, connections: usize) -> Self {
        Self { operation, size, connections, spread: Spread::Many }
    }

    pub fn all() -> Vec<Self> {
        let mut cells = Vec::new();
        for size in Size::ALL {
            for connections in [64, 1] {
                cells.extend(Operation::ALL.map(|operation| Self::new(operation, size, connections)));
            }
        }
        cells
    }
}

/// `create-1kb-c64`.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}kb-c{}", self.operation.name(), self.size.bytes() / 1024, self.connections)
    }
}
