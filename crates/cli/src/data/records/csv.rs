//! CSV with a header. A cell becomes a number, a boolean, null or JSON if it is spelled exactly so, otherwise text;
//! an empty cell is left out. The member `id` is always text.

use super::{ReadError, Records};
use csv::{ReaderBuilder, StringRecord};
use orrery_value::{Value, scan_value};
use std::io::Read;

pub fn records(reader: impl Read + Send + 'static) -> Result<Records, String> {
    let mut reader = ReaderBuilder::new().from_reader(reader);
    let header = reader.headers().map_err(|error| format!("the header cannot be read: {error}"))?.clone();
    let rows = reader.into_records().map(move |row| match row {
        Ok(row) => Ok(object(&header, &row)),
        Err(error) if error.is_io_error() => Err(ReadError::File(error.to_string())),
        Err(error) => Err(ReadError::Record(error.to_string())),
    });
    Ok(Box::new(rows))
}

fn object(header: &StringRecord, row: &StringRecord) -> String {
    let member = |(name, cell): (&str, &str)| {
        let value = if name == "id" { text(cell) } else { typed(cell) };
        format!("{}:{value}", text(name))
    };
    let members: Vec<String> =
        header.iter().zip(row).filter(|(_, cell)| !cell.is_empty()).map(member).collect();
    format!("{{{}}}", members.join(","))
}

/// What the cell spells. A number with leading zeros is none in JSON, so it stays text.
fn typed(cell: &str) -> String {
    let begins_as_json = cell.starts_with(|first: char| "-0123456789{[tfn".contains(first));
    if begins_as_json && scan_value(cell.as_bytes()).is_ok() { cell.to_owned() } else { text(cell) }
}

fn text(cell: &str) -> String {
    Value::from(cell).to_json()
}

/// One record as its row: the columns in order, text as it is, everything else as JSON.
pub fn row<'a>(columns: &[String], item: &'a str) -> Vec<std::borrow::Cow<'a, str>> {
    use orrery_value::raw;
    let cell = |name: &String| match raw::member(item, name).map(str::trim) {
        None => "".into(),
        Some(value) => match value.strip_prefix('"').and_then(|inside| inside.strip_suffix('"')) {
            Some(inside) => raw::unescape(inside),
            None => value.into(),
        },
    };
    columns.iter().map(cell).collect()
}
