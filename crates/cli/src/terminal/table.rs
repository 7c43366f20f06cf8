//! Columns that line up and fit the terminal: text is shortened with `…`, numbers are not, and where that is not enough a
//! table of any number of columns leaves off the last ones and says so.

use super::{HEADING, Screen};
use std::ops::Range;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// No cell is drawn wider, however long its text is.
const CELL_COLUMNS_MAX: usize = 512;
/// A shortened column keeps this much.
const COLUMN_COLUMNS_MIN: usize = 8;
const GAP: &str = "  ";

pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    is_ruled: bool,
    /// How to see the columns that are left off; `None` if none may be.
    more: Option<&'static str>,
}

struct Column {
    name: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// Text that is never shortened.
    Whole,
    /// Stands at the right and is never shortened.
    Number,
}

impl Table {
    pub fn new<T: AsRef<str>>(heading: &[T]) -> Self {
        let column = |name: &T| Column { name: plain(name.as_ref()), kind: Kind::Text };
        Self { columns: heading.iter().map(column).collect(), rows: Vec::new(), is_ruled: false, more: None }
    }

    /// Columns of numbers.
    pub fn numbers(mut self, columns: Range<usize>) -> Self {
        self.columns[columns].iter_mut().for_each(|column| column.kind = Kind::Number);
        self
    }

    /// A column that is never shortened.
    pub fn whole(mut self, column: usize) -> Self {
        self.columns[column].kind = Kind::Whole;
        self
    }

    /// With a line under the heading.
    pub fn ruled(mut self) -> Self {
        self.is_ruled = true;
        self
    }

    /// Leaves off columns that do not fit, and says how to see them.
    pub fn fitting(mut self, more: &'static str) -> Self {
        self.more = Some(more);
        self
    }

    /// Adds rows; a row that is too short has empty cells at its end.
    pub fn rows(mut self, rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        let cut = |cell: String| shortened(&plain(&cell), CELL_COLUMNS_MAX);
        self.rows.extend(rows.into_iter().map(|row| row.into_iter().map(cut).collect()));
        self
    }

    pub fn draw(&self, screen: &Screen) -> String {
        if self.columns.is_empty() {
            return String::new();
        }
        let widths = self.widths(screen.width);
        let left_off = self.columns.len() - widths.len();
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let heading = self.line(&names, &widths);
        let mut text = format!("{}\n", screen.paint(HEADING, &heading));
        if self.is_ruled {
            let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            text += &format!("{}\n", rules.join(GAP));
        }
        for row in &self.rows {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            text += &format!("{}\n", self.line(&cells, &widths));
        }
        if let Some(more) = self.more.filter(|_| left_off > 0) {
            let names =
                shortened(&names[widths.len()..].join(", "), screen.width.unwrap_or(CELL_COLUMNS_MAX));
            let plural = if left_off == 1 { "" } else { "s" };
            text += &format!("{left_off} more column{plural} ({more}):\n{names}\n");
        }
        text
    }

    /// As wide as their cells, or so much narrower that a line fits: the widest give way first.
    fn widths(&self, line: Option<usize>) -> Vec<usize> {
        let natural: Vec<usize> = (0..self.columns.len()).map(|at| self.natural(at)).collect();
        let gaps = GAP.len() * (self.columns.len() - 1);
        let at_level = |level: usize| -> Vec<usize> {
            let width = |(column, natural): (&Column, &usize)| match column.kind {
                Kind::Text => (*natural).min(level.max(column.name.width().min(COLUMN_COLUMNS_MIN))),
                Kind::Whole | Kind::Number => *natural,
            };
            self.columns.iter().zip(&natural).map(width).collect()
        };
        let Some(line) = line else { return natural };
        let levels = (COLUMN_COLUMNS_MIN..=CELL_COLUMNS_MAX).rev().map(at_level);
        let fitting = levels.into_iter().find(|widths| widths.iter().sum::<usize>() + gaps <= line);
        fitting.unwrap_or_else(|| self.first(at_level(COLUMN_COLUMNS_MIN), line))
    }

    /// Of columns that can be left off, as many as fit, and one at least.
    fn first(&self, mut widths: Vec<usize>, line: usize) -> Vec<usize> {
        if self.more.is_some() {
            let mut used = 0;
            let fits = |width: &&usize| {
                used += **width + GAP.len();
                used <= line + GAP.len()
            };
            let count = widths.iter().take_while(fits).count();
            widths.truncate(count.max(1));
        }
        widths
    }

    fn natural(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width());
        cells.chain([self.columns[column].name.width()]).max().unwrap_or(0)
    }

    fn line(&self, cells: &[&str], widths: &[usize]) -> String {
        let padded = self.columns.iter().zip(widths).enumerate().map(|(at, (column, width))| {
            let cell = shortened(cells.get(at).copied().unwrap_or_default(), *width);
            let blanks = " ".repeat(width.saturating_sub(cell.width()));
            match column.kind {
                Kind::Number => blanks + &cell,
                Kind::Text | Kind::Whole => cell + &blanks,
            }
        });
        padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    }
}

/// The text on one line, without anything that could steer the terminal.
pub fn plain(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

fn shortened(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |character: &char| {
        used += character.width().unwrap_or(0);
        used <= columns
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// `1.5 GB`
pub fn bytes(bytes: Option<u64>) -> String {
    let Some(bytes) = bytes else { return "-".to_owned() };
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let fitting = units.iter().find(|(size, _)| bytes as f64 >= *size);
    fitting.map_or_else(|| format!("{bytes} B"), |(size, name)| format!("{:.1} {name}", bytes as f64 / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    fn within(width: usize) -> Screen {
        Screen { width: Some(width), has_color: false }
    }

    #[test]
    fn columns_line_up_and_names_cannot_steer_the_terminal() {
        let rows = [row(&["a\u{1b}[2J", "7"]), row(&["longer", "123"]), row(&["short"])];
        let table = Table::new(&["name", "n"]).numbers(1..2).rows(rows);
        assert_eq!(table.draw(&Screen::PIPE), "name      n\na [2J     7\nlonger  123\nshort\n");
    }

    #[test]
    fn a_table_fits_the_terminal_and_numbers_stay_whole() {
        let rows = [row(&["a text of some length", "1234567890", "another text"])];
        let table = Table::new(&["TEXT", "NUMBER", "MORE"]).numbers(1..2).rows(rows);
        let narrow = table.draw(&within(40));
        assert_eq!(narrow, "TEXT                NUMBER  MORE\na text of som…  1234567890  another text\n");
        assert!(narrow.lines().all(|line| line.width() <= 40));
        // Narrower than can be: the least of each column is still there.
        assert!(table.draw(&within(5)).contains("a text …  1234567890  another…"));
        assert!(table.draw(&within(200)).contains("a text of some length  1234567890  another text"));
    }

    #[test]
    fn columns_that_do_not_fit_are_left_off_and_named() {
        let names: Vec<String> = (0..9).map(|at| format!("column{at}")).collect();
        let rows = [row(&["a text that is long"; 9])];
        let table = Table::new(&names).fitting("--json shows them").rows(rows);
        let drawn = table.draw(&within(30));
        assert_eq!(
            drawn,
            "column0   column1   column2\na text …  a text …  a text …\n6 more columns (--json shows them):\n\
             column3, column4, column5, co…\n"
        );
        assert!(!table.draw(&Screen::PIPE).contains("more column"));
    }

    #[test]
    fn a_whole_column_is_never_shortened() {
        let name = "a-database-of-a-long-name / a-container-of-a-long-name";
        let table = Table::new(&["", "n"]).whole(0).rows([row(&[name, "x"])]);
        assert!(table.draw(&within(20)).contains(name));
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let table = Table::new(&["a", "b"]).rows([row(&["漢字", "x"]), row(&["abc", "y"])]);
        assert_eq!(table.draw(&Screen::PIPE), "a     b\n漢字  x\nabc   y\n");
        assert_eq!(shortened("漢字漢字", 5), "漢字…");
    }

    #[test]
    fn an_endless_cell_ends() {
        let table = Table::new(&["a"]).rows([row(&[&"x".repeat(100_000)])]);
        assert_eq!(table.draw(&Screen::PIPE).lines().nth(1).map(|line| line.width()), Some(512));
    }

    #[test]
    fn the_heading_is_bold_on_a_terminal() {
        let table = Table::new(&["a"]).ruled().rows([row(&["x"])]);
        let drawn = table.draw(&Screen { width: Some(80), has_color: true });
        assert_eq!(drawn, "\u{1b}[1ma\u{1b}[0m\n-\nx\n");
    }

    #[test]
    fn sizes_are_short() {
        let shown = [None, Some(999), Some(20_000_000_000)].map(bytes);
        assert_eq!(shown, ["-", "999 B", "20.0 GB"]);
    }
}
