//! Records of a file, one after another, each as the text of a JSON object.
//!
//! ```text
//! json_lines   an object on each line
//! json_array   one array of objects, read element by element
//! csv          a header, and a record on each row; cells become numbers, booleans and JSON where they look like it
//! parquet      rows of a Parquet file, with lists, maps and structs
//! ```
//!
//! A reader holds one record at a time, whatever the file's size.

pub mod csv;
mod json_array;
mod json_lines;
mod parquet;

use clap::ValueEnum;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A record is refused beyond this size: an item may have 2 MB, and blanks between its tokens.
const RECORD_BYTES_MAX: usize = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FileFormat {
    /// An object on each line
    Jsonl,
    /// One array of objects
    Json,
    /// Comma-separated values with a header
    Csv,
    /// Apache Parquet; only from a file
    Parquet,
}

impl FileFormat {
    /// The format by a file's name.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// One record, or why it is invalid; an error of the whole file ends the iteration.
pub type Record = Result<String, ReadError>;

#[derive(Debug, PartialEq, Eq)]
pub enum ReadError {
    /// This record is invalid; the next may be valid.
    Record(String),
    /// Nothing after this can be read.
    File(String),
}

pub type Records = Box<dyn Iterator<Item = Record> + Send>;

/// How far a file has been read, in units of its own.
#[derive(Clone, Debug, Default)]
pub struct Position {
    read: Arc<AtomicU64>,
    total: u64,
}

impl Position {
    fn new(total: u64) -> Self {
        Self { read: Arc::default(), total }
    }

    fn advance(&self, by: u64) {
        self.read.fetch_add(by, Ordering::Relaxed);
    }

    /// Between 0 and 1.
    pub fn share(&self) -> f64 {
        self.read.load(Ordering::Relaxed) as f64 / self.total.max(1) as f64
    }
}

struct Counted<R> {
    reader: R,
    position: Position,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.reader.read(buffer)?;
        self.position.advance(length as u64);
        Ok(length)
    }
}

pub fn open(path: &Path, format: FileFormat) -> Result<(Records, Position), String> {
    let unread = |error: std::io::Error| format!("{} cannot be read: {error}", path.display());
    let file = File::open(path).map_err(unread)?;
    if format == FileFormat::Parquet {
        return parquet::records(file);
    }
    let position = Position::new(file.metadata().map_err(unread)?.len());
    let counted = Counted { reader: file, position: position.clone() };
    Ok((from_reader(BufReader::with_capacity(1 << 18, counted), format)?, position))
}

/// Records from standard input.
pub fn from_reader(reader: impl BufRead + Send + 'static, format: FileFormat) -> Result<Records, String> {
    match format {
        FileFormat::Jsonl => Ok(Box::new(json_lines::JsonLines::new(reader))),
        FileFormat::Json => Ok(Box::new(json_array::JsonArray::new(reader))),
        FileFormat::Csv => csv::records(reader),
        FileFormat::Parquet => Err("a Parquet file is read from its end, so it must be a file".to_owned()),
    }
}

/// The text of an object, checked.
fn object(text: &str) -> Record {
    let trimmed = text.trim();
    match orrery_value::scan_object_text(trimmed) {
        Ok(_) => Ok(trimmed.to_owned()),
        Err(error) => Err(ReadError::Record(format!("it is not a JSON object: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str, format: FileFormat) -> Vec<Record> {
        from_reader(text.as_bytes(), format).expect("a reader").collect()
    }

    #[test]
    fn lines_are_records_and_blank_ones_are_none() {
        let found = read("{\"a\":1}\n\n  {\"b\": 2}  \r\n[1]\n{\"c\":3}", FileFormat::Jsonl);
        assert_eq!(found.len(), 4);
        assert_eq!(found[1], Ok("{\"b\": 2}".to_owned()));
        assert!(matches!(&found[2], Err(ReadError::Record(why)) if why.contains("not a JSON object")));
        assert_eq!(found[3], Ok("{\"c\":3}".to_owned()));
    }

    #[test]
    fn elements_of_an_array_are_records_however_they_are_laid_out() {
        let text = " [ {\"a\":\"]},\\\"\"} ,\n{\"b\":{\"c\":[1,{}]}}\n] \n";
        let found = read(text, FileFormat::Json);
        let expected = [Ok("{\"a\":\"]},\\\"\"}".to_owned()), Ok("{\"b\":{\"c\":[1,{}]}}".to_owned())];
        assert_eq!(found, expected);
        assert_eq!(read("[]", FileFormat::Json), []);
    }

    #[test]
    fn an_array_that_breaks_off_is_an_error_of_the_file() {
        for text in ["", "{\"a\":1}", "[{\"a\":1}", "[{\"a\":1", "[{}] x"] {
            let found = read(text, FileFormat::Json);
            assert!(matches!(found.last(), Some(Err(ReadError::File(_)))), "{text}: {found:?}");
        }
    }

    #[test]
    fn an_element_that_is_no_object_is_refused_and_the_next_is_read() {
        let found = read("[1,{\"a\":1}]", FileFormat::Json);
        assert!(matches!(&found[0], Err(ReadError::Record(_))));
        assert_eq!(found[1], Ok("{\"a\":1}".to_owned()));
    }

    #[test]
    fn cells_become_what_they_look_like_and_empty_ones_nothing() {
        let text = "id,n,zip,ok,tags,none\n7,1.50,01234,true,\"[\"\"a\"\"]\",\nb,-3,\"x, y\",TRUE,{broken,\n";
        let found = read(text, FileFormat::Csv);
        let first = "{\"id\":\"7\",\"n\":1.50,\"zip\":\"01234\",\"ok\":true,\"tags\":[\"a\"]}";
        let second = "{\"id\":\"b\",\"n\":-3,\"zip\":\"x, y\",\"ok\":\"TRUE\",\"tags\":\"{broken\"}";
        assert_eq!(found, [Ok(first.to_owned()), Ok(second.to_owned())]);
    }

    #[test]
    fn a_row_with_more_cells_than_the_header_is_refused() {
        let found = read("a,b\n1,2,3\n4,5\n", FileFormat::Csv);
        assert!(matches!(&found[0], Err(ReadError::Record(_))));
        assert_eq!(found[1], Ok("{\"a\":4,\"b\":5}".to_owned()));
    }

    #[test]
    fn a_name_tells_the_format() {
        assert_eq!(FileFormat::of(Path::new("a.NDJSON")), Some(FileFormat::Jsonl));
        assert_eq!(FileFormat::of(Path::new("a.txt")), None);
    }
}
