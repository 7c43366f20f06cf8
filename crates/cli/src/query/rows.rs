//! Rows on standard output: a JSON array, a line each, or a table.
//!
//! A row is printed with the digits it came with, but without the blanks between its tokens: a stored item may
//! have been written over several lines. A table is the one form that waits for the last row.

use crate::terminal::{Screen, Table};
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

/// A format, and what a table is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub format: Format,
    pub screen: Screen,
    /// Whether a table shows what the server adds to items.
    pub shows_system: bool,
}

pub struct Printer<W: Write> {
    out: BufWriter<W>,
    layout: Layout,
    /// How many rows were written.
    rows: u64,
    table: Rows,
}

impl<W: Write> Printer<W> {
    pub fn new(layout: Layout, out: W) -> Self {
        Self { out: BufWriter::new(out), layout, rows: 0, table: Rows::default() }
    }

    pub fn row(&mut self, json: &str) -> io::Result<()> {
        let row = compact(json);
        match self.layout.format {
            Format::Lines => writeln!(self.out, "{row}")?,
            Format::Json => write!(self.out, "{}{row}", if self.rows == 0 { "[\n" } else { ",\n" })?,
            Format::Table => self.table.add(&row, self.layout.shows_system),
        }
        self.rows += 1;
        Ok(())
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    pub fn end(mut self) -> io::Result<()> {
        match self.layout.format {
            Format::Lines => {}
            Format::Json if self.rows == 0 => writeln!(self.out, "[]")?,
            Format::Json => writeln!(self.out, "\n]")?,
            Format::Table => {
                let table = self.table.table().draw(&self.layout.screen);
                self.out.write_all(table.as_bytes())?;
            }
        }
        self.out.flush()
    }
}

/// JSON without the blanks outside of its strings.
pub fn compact(json: &str) -> String {
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
/// What the server adds to every item.
pub const SYSTEM_PROPERTIES: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_ts"];

#[derive(Default)]
struct Rows {
    columns: Vec<String>,
    /// Each cell with the number of its column.
    rows: Vec<Vec<(usize, String)>>,
}

impl Rows {
    fn add(&mut self, row: &str, shows_system: bool) {
        let cells = match row.starts_with('{') {
            true => self.members(row, shows_system),
            false => vec![(self.column(VALUE), cell(row))],
        };
        self.rows.push(cells);
    }

    /// Whole items go without what the server adds to them; a query that names such a member wants to see it.
    fn members(&mut self, row: &str, shows_system: bool) -> Vec<(usize, String)> {
        let members: Vec<(String, &str)> =
            raw::members(row).map(|(name, value)| (raw::unescape(name).to_string(), value)).collect();
        let is_item = SYSTEM_PROPERTIES.iter().all(|system| members.iter().any(|(name, _)| name == system));
        let is_shown = |name: &str| shows_system || !is_item || !SYSTEM_PROPERTIES.contains(&name);
        let shown = members.iter().filter(|(name, _)| is_shown(name));
        shown.map(|(name, value)| (self.column(name), cell(value))).collect()
    }

    /// Columns stand in the order in which rows first have them.
    fn column(&mut self, name: &str) -> usize {
        self.columns.iter().position(|known| known == name).unwrap_or_else(|| {
            self.columns.push(name.to_owned());
            self.columns.len() - 1
        })
    }

    fn table(&self) -> Table {
        let text = |cells: &[(usize, String)], column: usize| {
            cells.iter().find(|(of, _)| *of == column).map(|(_, text)| text.clone()).unwrap_or_default()
        };
        let columns = 0..self.columns.len();
        let row = |cells: &Vec<(usize, String)>| columns.clone().map(|column| text(cells, column)).collect();
        let table = Table::new(&self.columns).ruled().fitting("--json shows them");
        // Whoever looks for items wants to name them afterwards.
        let ids = self.columns.iter().position(|name| name == "id");
        let table = ids.into_iter().fold(table, Table::whole);
        table.rows(self.rows.iter().map(row))
    }
}

/// Strings stand as they are, everything else as JSON.
fn cell(json: &str) -> String {
    match json.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(inside) => raw::unescape(inside).to_string(),
        None => json.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: Format, rows: &[&str], expected: &str) {
        check_on(Layout { format, screen: Screen::PIPE, shows_system: false }, rows, expected);
    }

    fn check_on(layout: Layout, rows: &[&str], expected: &str) {
        let mut out = Vec::new();
        let mut printer = Printer::new(layout, &mut out);
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
    fn a_long_cell_is_shortened_to_the_width_of_the_terminal() {
        let row = format!("\"{}\"", "ä".repeat(100));
        let expected = format!("value\n{}\n{}…\n", "-".repeat(60), "ä".repeat(59));
        let screen = Screen { width: Some(60), has_color: false };
        check_on(Layout { format: Format::Table, screen, shows_system: false }, &[&row], &expected);
    }

    #[test]
    fn a_table_of_items_goes_without_what_the_server_adds() {
        let item = r#"{"id":"a","_rid":"r","_self":"s","_etag":"e","_attachments":"x","_ts":1}"#;
        check(Format::Table, &[item], "id\n--\na\n");
        check(Format::Table, &[r#"{"id":"a","_ts":1}"#], "id  _ts\n--  ---\na   1\n");
        check(Format::Lines, &[item], &format!("{item}\n"));
        let layout = Layout { format: Format::Table, screen: Screen::PIPE, shows_system: true };
        check_on(
            layout,
            &[item],
            "id  _rid  _self  _etag  _attachments  _ts\n--  ----  -----  -----  ------------  ---\na   r     s      e      x             1\n",
        );
    }
}
