//! One call per decoder of bytes that clients send; the fuzz targets and a short run in the suite share them.

use crate::continuation::Tokens;
use crate::metadata_query::MetadataQuery;
use crate::{partition_key, route, session};

pub fn route(data: &[u8]) {
    if let Ok(uri) = http::Uri::try_from(data) {
        let _ = route::locate(&uri);
    }
}

pub fn headers(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = partition_key::parse(text);
        let _ = session::newest(text);
        let _ = Tokens::new(&[1; 32]).read(1, text);
        let _ = orrery_api_common::parse_authorization(text);
    }
}

pub fn query(data: &[u8]) {
    let _ = MetadataQuery::parse(data);
}
