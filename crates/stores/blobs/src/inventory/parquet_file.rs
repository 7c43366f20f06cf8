//! Rows as Parquet: a group of rows at a time, so that memory stays flat whatever the number of rows.

use super::rows::InventoryRow;
use crate::limits;
use bytes::Bytes;
use orrery_blobs::inventory::{Column, ColumnKind, Value};
use parquet::basic::{Compression, ConvertedType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::sync::Arc;

pub(super) struct ParquetFile {
    columns: Vec<Column>,
    writer: SerializedFileWriter<Vec<u8>>,
    /// Those of the group that is not written yet.
    rows: Vec<InventoryRow>,
}

impl ParquetFile {
    pub fn new(columns: &[Column]) -> Result<Self> {
        let fields = columns.iter().map(|column| field(*column).map(Arc::new)).collect::<Result<Vec<_>>>()?;
        let schema = Type::group_type_builder("inventory").with_fields(fields).build()?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
        Ok(Self { columns: columns.to_vec(), writer, rows: Vec::new() })
    }

    /// Adds a row. Returns bytes of the file when a group is full.
    pub fn push(&mut self, row: InventoryRow) -> Result<Bytes> {
        self.rows.push(row);
        if self.rows.len() < limits::INVENTORY_GROUP_ROWS {
            return Ok(Bytes::new());
        }
        self.write_group()?;
        self.writer.flush()?;
        Ok(std::mem::take(self.writer.inner_mut()).into())
    }

    /// The rest of the file.
    pub fn finish(mut self) -> Result<Bytes> {
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        Ok(self.writer.into_inner()?.into())
    }

    fn write_group(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        let mut group = self.writer.next_row_group()?;
        let mut at = 0;
        while let Some(mut writer) = group.next_column()? {
            write_column(&mut writer, self.columns[at].kind, rows.iter().map(|row| row[at].as_ref()))?;
            writer.close()?;
            at += 1;
        }
        group.close()?;
        Ok(())
    }
}

fn field(column: Column) -> Result<Type> {
    let (physical, converted) = match column.kind {
        ColumnKind::Text => (PhysicalType::BYTE_ARRAY, ConvertedType::UTF8),
        ColumnKind::Integer => (PhysicalType::INT64, ConvertedType::NONE),
        ColumnKind::Flag => (PhysicalType::BOOLEAN, ConvertedType::NONE),
        ColumnKind::Time => (PhysicalType::INT64, ConvertedType::TIMESTAMP_MILLIS),
    };
    Type::primitive_type_builder(column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_converted_type(converted)
        .build()
}

fn write_column<'a>(
    writer: &mut SerializedColumnWriter<'_>,
    kind: ColumnKind,
    values: impl Iterator<Item = Option<&'a Value>>,
) -> Result<()> {
    match kind {
        ColumnKind::Text => write_values::<ByteArrayType>(writer, values, |value| match value {
            Value::Text(text) => Some(ByteArray::from(text.as_str())),
            _ => None,
        }),
        ColumnKind::Integer => write_values::<Int64Type>(writer, values, |value| match value {
            Value::Integer(number) => i64::try_from(*number).ok(),
            _ => None,
        }),
        ColumnKind::Time => write_values::<Int64Type>(writer, values, |value| match value {
            Value::Time(at) => i64::try_from(at.millis()).ok(),
            _ => None,
        }),
        ColumnKind::Flag => write_values::<BoolType>(writer, values, |value| match value {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }),
    }
}

fn write_values<'a, T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: impl Iterator<Item = Option<&'a Value>>,
    read: impl Fn(&Value) -> Option<T::T>,
) -> Result<()> {
    let (mut found, mut levels) = (Vec::new(), Vec::new());
    for value in values {
        let value = value.and_then(&read);
        levels.push(i16::from(value.is_some()));
        found.extend(value);
    }
    writer.typed::<T>().write_batch(&found, Some(&levels), None)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::Timestamp;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    #[test]
    fn rows_of_several_groups_are_read_back() {
        let names = ["Name", "Content-Length", "Creation-Time", "Deleted", "Snapshot"];
        let columns = names.map(|name| Column::of_blobs(name).expect("a column"));
        let mut file = ParquetFile::new(&columns).expect("a schema");
        let mut bytes = Vec::new();
        let count = limits::INVENTORY_GROUP_ROWS + 10;
        for number in 0..count {
            let row = vec![
                Some(Value::Text(format!("runs/{number}"))),
                Some(Value::Integer(number as u64)),
                Some(Value::Time(Timestamp::from_millis(1_800_000_000_123))),
                Some(Value::Flag(number % 2 == 0)),
                None,
            ];
            bytes.extend_from_slice(&file.push(row).expect("a row"));
        }
        assert!(!bytes.is_empty(), "a full group is given at once");
        bytes.extend_from_slice(&file.finish().expect("the end of the file"));
        let reader = SerializedFileReader::new(Bytes::from(bytes)).expect("a file");
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let rows: Vec<String> =
            reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row").to_string()).collect();
        assert_eq!(rows.len(), count);
        assert!(rows[7].contains("Name: \"runs/7\", Content-Length: 7"), "{}", rows[7]);
        assert!(rows[7].contains("Deleted: false, Snapshot: null"), "{}", rows[7]);
    }
}
