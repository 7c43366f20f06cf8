//! The file of an inventory, in either format: rows in, bytes out.

use super::csv;
use super::parquet_file::ParquetFile;
use super::rows::InventoryRow;
use crate::error::Error;
use crate::limits;
use bytes::Bytes;
use orrery_blobs::inventory::{InventoryFormat, InventoryRule};
use orrery_kv::Error as EngineError;

pub(super) enum InventoryFile {
    Csv(String),
    Parquet(Box<ParquetFile>),
}

impl InventoryFile {
    pub fn new(rule: &InventoryRule) -> Result<Self, Error> {
        match rule.format {
            InventoryFormat::Csv => {
                let mut text = String::new();
                csv::write_header(&rule.columns, &mut text);
                Ok(Self::Csv(text))
            }
            InventoryFormat::Parquet => {
                Ok(Self::Parquet(Box::new(ParquetFile::new(&rule.columns).map_err(failed)?)))
            }
        }
    }

    pub fn extension(rule: &InventoryRule) -> &'static str {
        match rule.format {
            InventoryFormat::Csv => "csv",
            InventoryFormat::Parquet => "parquet",
        }
    }

    /// Adds a row. Returns bytes when there are enough of them.
    pub fn push(&mut self, row: InventoryRow) -> Result<Bytes, Error> {
        match self {
            Self::Csv(text) => {
                csv::write_row(&row, text);
                let is_enough = text.len() >= limits::UPLOAD_BATCH_BYTES;
                Ok(if is_enough { std::mem::take(text).into() } else { Bytes::new() })
            }
            Self::Parquet(file) => file.push(row).map_err(failed),
        }
    }

    /// The rest.
    pub fn finish(self) -> Result<Bytes, Error> {
        match self {
            Self::Csv(text) => Ok(text.into()),
            Self::Parquet(file) => file.finish().map_err(failed),
        }
    }
}

/// Everything is in memory, so only a row that does not fit its schema fails.
fn failed(error: parquet::errors::ParquetError) -> Error {
    Error::Engine(EngineError::Unavailable(format!("an inventory could not be written: {error}")))
}
