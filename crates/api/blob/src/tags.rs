//! Tags as a header and as XML (wire guide §8.3, §9.1).

use crate::errors::Failure;
use bytes::Bytes;
use orrery_api_storage::StorageError;
use orrery_api_storage::xml::{self, Writer};
use orrery_blob_store::model::tags::TagSet;
use percent_encoding::percent_decode_str;

/// `a=1&b=x%20y`
pub fn of_header(name: &str, text: &str) -> Result<TagSet, Failure> {
    let refused = || Failure::from(StorageError::invalid_header(name, text));
    let decoded = |part: &str| {
        let plain = part.replace('+', " ");
        percent_decode_str(&plain).decode_utf8().map(|text| text.into_owned()).map_err(|_| refused())
    };
    let mut pairs = Vec::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        pairs.push((decoded(key)?, decoded(value)?));
    }
    Ok(TagSet::new(pairs)?)
}

pub fn read(body: &[u8]) -> Result<TagSet, Failure> {
    let root = xml::read(body)?;
    root.named("Tags")?;
    let Some(set) = root.child("TagSet") else { return Ok(TagSet::default()) };
    let mut pairs = Vec::new();
    for tag in &set.children {
        tag.named("Tag")?;
        tag.only(&["Key", "Value"])?;
        pairs.push((tag.required("Key")?.to_owned(), tag.required("Value")?.to_owned()));
    }
    Ok(TagSet::new(pairs)?)
}

pub fn document(tags: &TagSet) -> Bytes {
    let mut writer = Writer::new();
    write(&mut writer, tags);
    writer.finish()
}

pub fn write(writer: &mut Writer, tags: &TagSet) {
    writer.element("Tags", |root| {
        root.element("TagSet", |set| {
            for (key, value) in tags.iter() {
                set.element("Tag", |tag| {
                    tag.text("Key", key);
                    tag.text("Value", value);
                });
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_tags_as_a_query_has_parameters() {
        let tags = of_header("x-ms-tags", "status=completed&a%2Bb=x%20y+z&empty=").expect("tags");
        let found: Vec<_> = tags.iter().collect();
        assert_eq!(found, [("a+b", "x y z"), ("empty", ""), ("status", "completed")]);
        assert!(of_header("x-ms-tags", "").expect("none").is_empty());
        let code = |text: &str| of_header("x-ms-tags", text).map_err(|error| error.0.code).err();
        assert_eq!(code("a=%ff"), Some("InvalidHeaderValue"));
        assert_eq!(code("a=%26"), Some("InvalidTag"));
    }

    #[test]
    fn a_document_is_read_back() {
        let tags = of_header("x-ms-tags", "a=1&b=").expect("tags");
        assert_eq!(read(&document(&tags)).map_err(|error| error.0.code), Ok(tags));
        assert!(read(b"<Tags><TagSet/></Tags>").expect("none").is_empty());
        let code = |text: &str| read(text.as_bytes()).map_err(|error| error.0.code).err();
        assert_eq!(code("<TagSet/>"), Some("InvalidXmlDocument"));
        assert_eq!(code("<Tags><TagSet><Tag><Key>a</Key></Tag></TagSet></Tags>"), Some("InvalidXmlDocument"));
    }
}
