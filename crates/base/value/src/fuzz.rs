//! The fuzz targets, placed here so that ordinary tests run them too. Each accepts any bytes and panics only
//! if this crate breaks a promise.

use crate::raw::{at_path, members, unescape};
use crate::{BinaryError, JsonError, Value};

/// The members of accepted text are values themselves, in order, and readable in place.
pub fn scan_object(data: &[u8]) {
    let Ok(scan) = crate::scan_object(data) else { return };
    let text = std::str::from_utf8(data).expect("only UTF-8 is accepted");
    let in_place: Vec<_> = members(text).collect();
    let scanned: Vec<_> = scan.members.iter().map(|m| (m.name.of(text), m.value.of(text))).collect();
    assert_eq!(scanned, in_place, "both readers see the same members");
    for (name, value) in scanned {
        crate::scan_value(value.as_bytes()).expect("a member's value is a value");
        assert_eq!(at_path(text, &[unescape(name).into_owned()]), Some(value));
    }
    for at in scan.lone_surrogates {
        assert_eq!(&data[at as usize..at as usize + 2], b"\\u");
    }
}

/// A parsed value can be written, and parses back as the same.
pub fn value_parse(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = Value::read(text);
    let Ok(value) = Value::parse(text) else { return };
    assert_eq!(Value::parse(&value.to_json()).as_ref(), Ok(&value));
}

/// Decoded text is JSON, except that it may repeat a name.
pub fn binary_to_text(data: &[u8]) {
    let text = match crate::binary_to_text(data) {
        Ok(text) => text,
        Err(BinaryError::TooLong) => return,
        Err(error) => return drop(error.to_string()),
    };
    match crate::scan_value(&text) {
        Ok(()) | Err(JsonError::DuplicateName { .. }) => {}
        Err(error) => panic!("{error} in {:?}", String::from_utf8_lossy(&text)),
    }
}
