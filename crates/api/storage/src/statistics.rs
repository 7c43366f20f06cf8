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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Draft, fixture};
    use orrery_protocol::storage::Service;

    #[test]
    fn the_replica_alone_tells_how_far_it_is() {
        let fixture = fixture();
        let asked = |path: &str| {
            let draft = Draft {
                path: path.to_owned(),
                ..Draft::new(Service::Queue, "GET", "", "restype=service&comp=stats")
            };
            write(&draft.read(&fixture.storage).1.expect("a request"))
        };
        assert_eq!(
            asked("/devstoreaccount1-secondary").expect("statistics"),
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceStats><GeoReplication><Status>live</Status>\
             <LastSyncTime>Sun, 15 Nov 2026 01:02:43 GMT</LastSyncTime></GeoReplication></StorageServiceStats>"
        );
        assert!(asked("/devstoreaccount1-secondary/devstoreaccount1").is_ok(), "as Python asks");
        assert_eq!(
            asked("/devstoreaccount1/").map_err(|error| error.code),
            Err("InvalidQueryParameterValue")
        );
    }
}
