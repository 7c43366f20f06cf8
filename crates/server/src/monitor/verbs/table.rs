//! Columns of text that line up.

/// Rows under a heading; the columns that `is_right` names stand at the right.
pub fn table(heading: &[&str], rows: &[Vec<String>], right_from: usize, right_to: usize) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heading[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().enumerate().map(|(column, cell)| {
            let (cell, width) = (clean(cell), widths[column]);
            if (right_from..right_to).contains(&column) {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    let mut text = line(heading.to_vec());
    rows.iter().for_each(|row| text.push_str(&line(row.iter().map(String::as_str).collect())));
    text
}

/// A name cannot steer the terminal.
fn clean(cell: &str) -> String {
    cell.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// The beginning of a text that is too long for its column.
pub fn clipped(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_owned();
    }
    let kept: String = text.chars().take(characters.saturating_sub(1)).collect();
    format!("{kept}…")
}

pub fn bytes(bytes: Option<u64>) -> String {
    let Some(bytes) = bytes else { return "-".to_owned() };
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let fitting = units.iter().find(|(size, _)| bytes as f64 >= *size);
    fitting.map_or_else(|| format!("{bytes} B"), |(size, name)| format!("{:.1} {name}", bytes as f64 / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_names_cannot_steer_the_terminal() {
        let rows =
            vec![vec!["a\u{1b}[2J".to_owned(), "7".to_owned()], vec!["longer".to_owned(), "123".to_owned()]];
        assert_eq!(table(&["name", "n"], &rows, 1, 2), "name      n\na [2J     7\nlonger  123\n");
        assert_eq!(clipped("abcdef", 4), "abc…");
        assert_eq!(
            (bytes(None), bytes(Some(999)), bytes(Some(20_000_000_000))),
            ("-".into(), "999 B".into(), "20.0 GB".into())
        );
    }
}
