//! JSON Lines: an object on each line, blank lines left out.

use super::{RECORD_BYTES_MAX, ReadError, Record, object};
use std::io::{BufRead, Read as _};

pub struct JsonLines<R> {
    reader: R,
    line: String,
    is_over: bool,
}

impl<R: BufRead> JsonLines<R> {
    pub fn new(reader: R) -> Self {
        Self { reader, line: String::new(), is_over: false }
    }
}

impl<R: BufRead> Iterator for JsonLines<R> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        while !self.is_over {
            self.line.clear();
            let read = (&mut self.reader).take(RECORD_BYTES_MAX as u64 + 1).read_line(&mut self.line);
            match read {
                Ok(0) => self.is_over = true,
                Ok(length) if length > RECORD_BYTES_MAX => {
                    self.is_over = true;
                    let why = format!("a line is longer than {RECORD_BYTES_MAX} bytes");
                    return Some(Err(ReadError::File(why)));
                }
                Ok(_) if self.line.trim().is_empty() => {}
                Ok(_) => return Some(object(&self.line)),
                Err(error) => {
                    self.is_over = true;
                    return Some(Err(ReadError::File(format!("the file cannot be read on: {error}"))));
                }
            }
        }
        None
    }
}
