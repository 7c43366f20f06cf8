//! Rows on standard output: a JSON array, a line each, or a table.
//!
//! A row is printed with the digits it came with, but without the blanks between its tokens: a stored item may
//! have been written over several lines. A table is the one form that waits for the last row.

use clap::ValueEnum;
use orrery_value::raw;
use std::io::{self, BufWriter, Write};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One array, a row on each line
    Json,
    /// A row on each line, and nothing else
    Lines,
    /// Columns, one for each member
    Table,
}

pub struct Printer<W: Write> {
    out: BufWriter<W>,
    format: Format,
    /// How many rows were written.
    rows: u64,
    table: Table,
}

impl<W: Write> Printer<W> {
    pub fn new(format: Format, out: W) -> Self {
        Self { out: BufWriter::new(out), format, rows: 0, table: Table::default() }
    }

    pub fn row(&mut self, json: &str) -> io::Result<()> {
        let row = compact(json);
        match self.format {
            Format::Lines => writeln!(self.out, "{row}")?,
            Format::Json => write!(self.out, "{}{row}", if self.rows == 0 { "[\n" } else { ",\n" })?,
            Format::Table => self.table.add(&row),
        }
        self.rows += 1;
        Ok(())
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    pub fn end(mut self) -> io::Result<()> {
        match self.format {
            Format::Lines => {}
            Format::Json if self.rows == 0 => writeln!(self.out, "[]")?,
            Format::Json => writeln!(self.out, "\n]")?,
            Format::Table => self.out.write_all(self.table.text().as_bytes())?,
        }
        self.out.flush()
    }
}

/// JSON without the blanks outside of its strings.
fn compact(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    let kept = json.chars().filter(|character| {
        let was_escaped = std::mem::take(&mut escaped);
        match character {
            '\\' if in_string => escaped = !was_escaped,
            '"' if !was_escaped => in_string = !in_string,
            _ => {}
        }
        in_string || !character.is_ascii_whitespace()
    });
    kept.collect()
}

/// The column of rows that are no objects.
const VALUE: &str = "value";
/// A cell shows this much of its text.
const CELL_CHARS_MAX: usize = 60;

#[derive(Default)]
struct Table {
    columns: Vec<String>,
    /// Each cell with the number of its column.
    rows: Vec<Vec<(usize, String)>>,
}

impl Table {
    fn add(&mut self, row: &str) {
        let cells = match row.starts_with('{') {
            true => raw::members(row)
                .map(|(name, value)| (self.column(&raw::unescape(name)), cell(value)))
                .collect(),
            false => vec![(self.column(VALUE), cell(row))],
        };
        self.rows.push(cells);
    }

    /// Columns stand in the order in which rows first have them.
    fn column(&mut self, name: &str) -> usize {
        self.columns.iter().position(|known| known == name).unwrap_or_else(|| {
            self.columns.push(name.to_owned());
            self.columns.len() - 1
        })
    }

    fn text(&self) -> String {
        let heads: Vec<(usize, String)> = self.columns.iter().map(|name| clipped(name)).enumerate().collect();
        let mut widths = vec![0; self.columns.len()];
        for (column, text) in self.rows.iter().flatten().chain(&heads) {
            widths[*column] = widths[*column].max(text.chars().count());
        }
        let rule = widths.iter().map(|width| "-".repeat(*width)).enumerate().collect();
        let lines = [&heads, &rule].into_iter().chain(&self.rows);
        if self.columns.is_empty() {
            String::new()
        } else {
            lines.map(|cells| line(cells, &widths)).collect()
        }
    }
}

fn line(cells: &[(usize, String)], widths: &[usize]) -> String {
    let text = |column: usize| cells.iter().find(|(of, _)| *of == column).map_or("", |(_, text)| text);
    let padded = widths.iter().enumerate().map(|(column, width)| format!("{:<width$}", text(column)));
    format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
}

/// Strings stand as they are, everything else as JSON.
fn cell(json: &str) -> String {
    match json.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(inside) => clipped(&raw::unescape(inside)),
        None => clipped(json),
    }
}

fn clipped(text: &str) -> String {
    let shown = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    if text.chars().count() <= CELL_CHARS_MAX {
        return shown.collect();
    }
    shown.take(CELL_CHARS_MAX - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: Format, rows: &[&str], expected: &str) {
        let mut out = Vec::new();
        let mut printer = Printer::new(format, &mut out);
        rows.iter().for_each(|row| printer.row(row).expect("memory takes all"));
        printer.end().expect("memory takes all");
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }

    #[test]
    fn an_array_is_json_with_any_number_of_rows() {
        check(Format::Json, &[], "[]\n");
        check(Format::Json, &["1"], "[\n1\n]\n");
        check(Format::Json, &["1", "{ \"a\" : 1.50 }"], "[\n1,\n{\"a\":1.50}\n]\n");
    }

    #[test]
    fn a_row_is_one_line_whatever_it_was_written_on() {
        check(Format::Lines, &["{\n  \"a\\\" b\" : [ \"x \\\\\" , 2 ]\n}"], "{\"a\\\" b\":[\"x \\\\\",2]}\n");
        check(Format::Lines, &[], "");
    }

    #[test]
    fn a_table_has_a_column_for_each_member_in_the_order_they_are_met() {
        let rows = ["{\"id\":\"a\",\"n\":10}", "{\"m\":[1],\"id\":\"longer\"}"];
        let expected = "id      n   m\n------  --  ---\na       10\nlonger      [1]\n";
        check(Format::Table, &rows, expected);
        check(Format::Table, &["1", "\"x\\ny\""], "value\n-----\n1\nx y\n");
        check(Format::Table, &[], "");
    }

    #[test]
    fn a_long_cell_is_clipped() {
        let row = format!("\"{}\"", "ä".repeat(100));
        let expected = format!("value\n{}\n{}…\n", "-".repeat(60), "ä".repeat(59));
        check(Format::Table, &[&row], &expected);
    }
}
