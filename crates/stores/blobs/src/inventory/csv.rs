//! Rows as CSV: the names of the columns first, quotes where a field needs them, CRLF at the end of each.

use super::rows::InventoryRow;
use orrery_blobs::inventory::{Column, Value};
use orrery_core::Ticks;

pub(super) fn write_header(columns: &[Column], out: &mut String) {
    let fields = columns.iter().map(|column| column.name.to_owned());
    write_line(fields, out);
}

pub(super) fn write_row(row: &InventoryRow, out: &mut String) {
    write_line(row.iter().map(|field| field.as_ref().map(field_text).unwrap_or_default()), out);
}

fn field_text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Flag(flag) => flag.to_string(),
        Value::Time(at) => Ticks::at(*at).to_string(),
    }
}

fn write_line(fields: impl Iterator<Item = String>, out: &mut String) {
    for (at, field) in fields.enumerate() {
        if at > 0 {
            out.push(',');
        }
        if field.contains([',', '"', '\r', '\n']) {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&field);
        }
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::Timestamp;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let columns =
            ["Name", "Content-Length", "Tags"].map(|name| Column::of_blobs(name).expect("a column"));
        let mut out = String::new();
        write_header(&columns, &mut out);
        let text = |text: &str| Some(Value::Text(text.to_owned()));
        write_row(&vec![text("a,b"), Some(Value::Integer(5)), text("{\"k\":\"v\"}")], &mut out);
        let at = Some(Value::Time(Timestamp::from_millis(1_800_000_000_123)));
        write_row(&vec![at, None, Some(Value::Flag(true))], &mut out);
        let expected = "Name,Content-Length,Tags\r\n\"a,b\",5,\"{\"\"k\"\":\"\"v\"\"}\"\r\n\
                        2027-01-15T08:00:00.1230000Z,,true\r\n";
        assert_eq!(out, expected);
    }
}
