//! The busiest partitions of a table, in bounded memory.

use crate::limits::USAGE_PARTITIONS_MAX;
use orrery_core::HeavyHitters;

pub(super) type HotPartitions = HeavyHitters<String, USAGE_PARTITIONS_MAX>;
