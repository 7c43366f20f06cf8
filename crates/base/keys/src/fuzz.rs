//! The fuzz targets, placed here so that ordinary tests run them too. Each accepts any bytes and panics only
//! if this crate breaks a promise.

use crate::{Direction, Epk, Hashing, KeyBuf, KeyReader, midpoint};

/// The first byte selects the parts to read; a value that is read must be written as the same key again.
pub fn key_reader(data: &[u8]) {
    let Some((&plan, key)) = data.split_first() else { return };
    let direction = if plan & 1 == 0 { Direction::Ascending } else { Direction::Descending };
    let mut reader = KeyReader::new(key);
    for step in 0..4 {
        let is_read = match plan >> (1 + step) & 3 {
            0 => reader.u32().is_ok(),
            1 => reader.bytes().is_ok(),
            2 => check_value(&mut reader, direction),
            _ => reader.u8().is_ok(),
        };
        if !is_read {
            break;
        }
    }
    let _ = reader.finish();
}

fn check_value(reader: &mut KeyReader<'_>, direction: Direction) -> bool {
    let Ok(value) = reader.value(direction) else { return false };
    let written = KeyBuf::new().value(&value, direction).finish();
    assert_eq!(KeyReader::new(&written).value(direction), Ok(value), "what is written reads back");
    true
}

/// Accepted text must print as itself, and a cut must stay inside the range.
pub fn epk_parse(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(epk) = Epk::parse(text) else { return };
    assert_eq!(epk.to_string(), text.to_ascii_uppercase());
    for hashing in [Hashing::HashV1, Hashing::HashV2, Hashing::MultiHash] {
        for (min, max) in [(&Epk::start(), &epk), (&epk, &Epk::end())] {
            let middle = midpoint(hashing, min, max);
            assert!(middle.is_none_or(|middle| *min < middle && middle < *max));
        }
    }
}
