//! Metadata: names and values that users give to containers, blobs and queues, in headers `x-ms-meta-{name}` (wire guide §4.4).
//!
//! Names are identifiers; they keep their letters' case, which makes no difference.

use crate::error::StorageError;
use crate::header::META_PREFIX;
use crate::limits::METADATA_BYTES_MAX;
use crate::xml::Writer;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Response};
use orrery_api_common::{spell_headers, spelled_headers};

/// In the order they came, with their letters as they were written where the listener keeps them.
pub type Metadata = Vec<(String, String)>;

/// The metadata of a request. The bare header `x-ms-meta`, which one client sends, is none.
pub fn read(head: &Parts) -> Result<Metadata, StorageError> {
    let mut found = Metadata::new();
    for (header, value) in spelled_headers(head, META_PREFIX) {
        let name = &header[META_PREFIX.len()..];
        check_name(name)?;
        let value = value.to_str().map_err(|_| StorageError::invalid_metadata())?;
        match found.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            // Two headers of one name are one with a list (RFC 9110, 5.3).
            Some((_, known)) => *known = format!("{known},{value}"),
            None => found.push((name.to_owned(), value.to_owned())),
        }
    }
    if found.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > METADATA_BYTES_MAX {
        return Err(StorageError::metadata_too_large());
    }
    Ok(found)
}

/// Puts metadata on an answer.
pub fn write<'a, B>(response: &mut Response<B>, metadata: impl IntoIterator<Item = (&'a str, &'a str)>) {
    let mut spelled = Vec::new();
    for (name, value) in metadata {
        let header = format!("{META_PREFIX}{name}");
        let parsed = header.parse::<HeaderName>().ok().zip(HeaderValue::from_str(value).ok());
        // What was read as metadata is a name and a value of a header.
        let Some((name, value)) = parsed else { continue };
        response.headers_mut().insert(name, value);
        spelled.push(header);
    }
    spell_headers(response, &spelled.iter().map(String::as_str).collect::<Vec<_>>());
}

/// `<Metadata><Name>value</Name></Metadata>`, as lists have it.
pub fn write_xml<'a>(writer: &mut Writer, metadata: impl IntoIterator<Item = (&'a str, &'a str)>) {
    writer.element("Metadata", |inside| {
        for (name, value) in metadata {
            inside.text(name, value);
        }
    });
}

fn check_name(name: &str) -> Result<(), StorageError> {
    if name.is_empty() {
        return Err(StorageError::empty_metadata_key());
    }
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_name = name.bytes().all(is_word) && !name.starts_with(|first: char| first.is_ascii_digit());
    if is_name { Ok(()) } else { Err(StorageError::invalid_metadata()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn read_of(headers: &[(&str, &str)]) -> Result<Metadata, &'static str> {
        let mut request = Request::new(());
        for (name, value) in headers {
            let name: HeaderName = name.parse().expect("a name");
            let value = HeaderValue::from_bytes(value.as_bytes()).expect("a value");
            request.headers_mut().append(name, value);
        }
        read(&request.into_parts().0).map_err(|error| error.code)
    }

    #[test]
    fn metadata_are_the_headers_of_its_prefix() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let found =
            read_of(&[("x-ms-meta-a", "1"), ("x-ms-date", "x"), ("x-ms-meta", "{}"), ("x-ms-meta-b_2", "")]);
        assert_eq!(found, Ok(vec![pair("a", "1"), pair("b_2", "")]));
        assert_eq!(read_of(&[("x-ms-meta-a", "1"), ("x-ms-meta-a", "2")]), Ok(vec![pair("a", "1,2")]));
    }

    #[test]
    fn names_are_identifiers_and_values_are_ascii() {
        assert_eq!(read_of(&[("x-ms-meta-", "1")]), Err("EmptyMetadataKey"));
        assert_eq!(read_of(&[("x-ms-meta-1a", "1")]), Err("InvalidMetadata"));
        assert_eq!(read_of(&[("x-ms-meta-a-b", "1")]), Err("InvalidMetadata"));
        assert_eq!(read_of(&[("x-ms-meta-a", "é")]), Err("InvalidMetadata"));
    }

    #[test]
    fn all_of_it_has_eight_kibibytes() {
        assert!(read_of(&[("x-ms-meta-a", &"x".repeat(METADATA_BYTES_MAX - 1))]).is_ok());
        assert_eq!(read_of(&[("x-ms-meta-a", &"x".repeat(METADATA_BYTES_MAX))]), Err("MetadataTooLarge"));
    }

    #[test]
    fn what_is_written_is_read_back_with_its_letters() {
        let mut response = Response::new(());
        write(&mut response, [("Foo", "bar"), ("b_C", "2")]);
        let mut request = Request::new(());
        *request.headers_mut() = response.headers().clone();
        *request.extensions_mut() = response.extensions().clone();
        let found = read(&request.into_parts().0).expect("metadata");
        assert_eq!(
            found,
            [("Foo", "bar"), ("b_C", "2")].map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }
}
