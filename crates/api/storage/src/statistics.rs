//! `comp=stats`: how far the replica is behind, which is never (wire guide §4.6). Only the replica is asked.

use crate::error::StorageError;
use crate::request::StorageRequest;
use crate::xml::Writer;
use bytes::Bytes;

pub fn write(request: &StorageRequest) -> Result<Bytes, StorageError> {
    if !request.is_secondary {
        let reason =
            "Statistics are answered only at the secondary endpoint, whose account ends in -secondary.";
        return Err(StorageError::invalid_query("comp", "stats", reason));
    }
    let mut writer = Writer::new();
    writer.element("StorageServiceStats", |root| {
        root.element("GeoReplication", |inside| {
            inside.text("Status", "live");
            inside.text("LastSyncTime", &request.now().to_http());
        });
    });
    Ok(writer.finish())
}
