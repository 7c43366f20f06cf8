//! Rows of a Parquet file as JSON objects. Lists become arrays, maps and structs objects, dates and timestamps
//! RFC 3339 text, bytes Base64, decimals numbers with all their digits; a null is left out, as an empty CSV cell is.

use super::{Position, ReadError, Records};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use orrery_value::Value;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use std::fs::File;

pub fn records(file: File) -> Result<(Records, Position), String> {
    let reader =
        SerializedFileReader::new(file).map_err(|error| format!("it is not a Parquet file: {error}"))?;
    let position = Position::new(reader.metadata().file_metadata().num_rows().max(0) as u64);
    let counter = position.clone();
    let rows = reader.into_iter().map(move |row| {
        counter.advance(1);
        // The reader cannot tell where the next row begins once a column is damaged.
        row.map(|row| object(&row)).map_err(|error| ReadError::File(error.to_string()))
    });
    Ok((Box::new(rows), position))
}

fn object(row: &Row) -> String {
    let columns = row.get_column_iter().filter(|(_, field)| !matches!(field, Field::Null));
    let members: Vec<String> = columns
        .map(|(name, field)| format!("{}:{}", text(name), if name == "id" { id(field) } else { json(field) }))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// An id is text, whatever type its column has.
fn id(field: &Field) -> String {
    match field {
        Field::Str(id) => text(id),
        other => text(json(other).trim_matches('"')),
    }
}

fn json(field: &Field) -> String {
    match field {
        Field::Null => "null".to_owned(),
        Field::Bool(value) => value.to_string(),
        Field::Byte(value) => value.to_string(),
        Field::Short(value) => value.to_string(),
        Field::Int(value) => value.to_string(),
        Field::Long(value) => value.to_string(),
        Field::UByte(value) => value.to_string(),
        Field::UShort(value) => value.to_string(),
        Field::UInt(value) => value.to_string(),
        Field::ULong(value) => value.to_string(),
        Field::Float16(value) => number(value.to_string()),
        Field::Float(value) => number(value.to_string()),
        Field::Double(value) => number(value.to_string()),
        Field::Decimal(_) => number(field.to_string()),
        Field::Str(value) => text(value),
        Field::Bytes(value) => text(&BASE64.encode(value.data())),
        Field::Date(days) => date(*days),
        Field::TimeMillis(millis) => time(i64::from(*millis) * 1000),
        Field::TimeMicros(micros) => time(*micros),
        Field::TimestampMillis(millis) => timestamp(jiff::Timestamp::from_millisecond(*millis)),
        Field::TimestampMicros(micros) => timestamp(jiff::Timestamp::from_microsecond(*micros)),
        Field::Group(row) => object(row),
        Field::ListInternal(list) => {
            format!("[{}]", list.elements().iter().map(json).collect::<Vec<_>>().join(","))
        }
        Field::MapInternal(map) => {
            let member = |(key, value): &(Field, Field)| format!("{}:{}", id(key), json(value));
            format!("{{{}}}", map.entries().iter().map(member).collect::<Vec<_>>().join(","))
        }
    }
}

/// Digits as they are; JSON has no infinity and no NaN.
fn number(digits: String) -> String {
    if orrery_value::scan_value(digits.as_bytes()).is_ok() { digits } else { "null".to_owned() }
}

fn date(days: i32) -> String {
    let epoch = jiff::civil::Date::constant(1970, 1, 1);
    match epoch.checked_add(jiff::Span::new().days(i64::from(days))) {
        Ok(date) => text(&date.to_string()),
        Err(_) => days.to_string(),
    }
}

fn time(micros: i64) -> String {
    match jiff::civil::Time::midnight().checked_add(jiff::Span::new().microseconds(micros)) {
        Ok(time) => text(&time.to_string()),
        Err(_) => micros.to_string(),
    }
}

fn timestamp(moment: Result<jiff::Timestamp, jiff::Error>) -> String {
    moment.map_or_else(|_| "null".to_owned(), |moment| text(&moment.to_string()))
}

fn text(value: &str) -> String {
    Value::from(value).to_json()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::data_type::ByteArray;

    #[test]
    fn every_kind_of_value_has_a_json_form() {
        let check = |field: Field, expected: &str| assert_eq!(json(&field), expected);
        check(Field::Long(i64::MAX), "9223372036854775807");
        check(Field::Double(1.5), "1.5");
        check(Field::Double(f64::NAN), "null");
        check(Field::Str("a\"b".to_owned()), "\"a\\\"b\"");
        check(Field::Bytes(ByteArray::from(vec![0, 255])), "\"AP8=\"");
        check(Field::Date(19_723), "\"2024-01-01\"");
        check(Field::TimeMillis(3_600_000), "\"01:00:00\"");
        check(Field::TimestampMillis(1_704_067_200_123), "\"2024-01-01T00:00:00.123Z\"");
    }

    #[test]
    fn an_id_is_text_whatever_its_column_is() {
        assert_eq!(id(&Field::Int(7)), "\"7\"");
        assert_eq!(id(&Field::Str("x".to_owned())), "\"x\"");
    }
}
