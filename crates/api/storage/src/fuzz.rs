//! What the fuzzers run, here so that the ordinary tests run the same: one call per decoder of bytes that clients send.
//! Each takes any bytes and panics only if a promise of this crate is broken.

use crate::error::StorageError;
use crate::{access_policies, service_properties, xml};
use orrery_catalog::storage::{ServiceKind, ServiceProperties};

const SERVICES: [ServiceKind; 3] = [ServiceKind::Blob, ServiceKind::Queue, ServiceKind::Table];

/// A document that is understood has the same texts when it is written and read again.
pub fn xml(data: &[u8]) {
    let Ok(root) = xml::read(data) else { return };
    let mut writer = xml::Writer::new();
    writer.text("T", &root.text);
    assert_eq!(xml::read(&writer.finish()).map(|again| again.text), Ok(root.text));
}

/// Policies that are taken are the same when they are written and read again; others are a bad request.
pub fn access_policies(data: &[u8]) {
    for service in SERVICES {
        match access_policies::read(service, data) {
            Ok(policies) => {
                assert_eq!(access_policies::read(service, &access_policies::write(&policies)), Ok(policies));
            }
            Err(error) => check_refusal(&error),
        }
    }
}

/// The same of the properties of a service, which are within its limits.
pub fn service_properties(data: &[u8]) {
    for service in SERVICES {
        let current = ServiceProperties::default();
        match service_properties::read(service, data, &current) {
            Ok(properties) => {
                assert_eq!(properties.check(), Ok(()));
                let written = service_properties::write(&properties);
                assert_eq!(service_properties::read(service, &written, &current), Ok(properties));
            }
            Err(error) => check_refusal(&error),
        }
    }
}

fn check_refusal(error: &StorageError) {
    assert!([400, 501].contains(&error.status.as_u16()), "{error:?}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    const WORDS: [&str; 24] = [
        "<SignedIdentifiers>",
        "</SignedIdentifiers>",
        "<SignedIdentifier>",
        "</SignedIdentifier>",
        "<Id>",
        "</Id>",
        "<AccessPolicy>",
        "</AccessPolicy>",
        "<Expiry>",
        "</Expiry>",
        "<StorageServiceProperties>",
        "</StorageServiceProperties>",
        "<Cors>",
        "</Cors>",
        "<Cors/>",
        "<Logging>",
        "</Logging>",
        "&lt;",
        "&#13;",
        "<![CDATA[",
        "]]>",
        "2026-11-15",
        " \n",
        "r",
    ];

    proptest! {
        #[test]
        fn decoders_keep_their_promises(
            words in prop::collection::vec(0..WORDS.len(), 0..20),
            bytes in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let text: String = words.iter().map(|at| WORDS[*at]).collect();
            for data in [text.as_bytes(), &bytes] {
                super::xml(data);
                super::access_policies(data);
                super::service_properties(data);
            }
        }
    }
}
