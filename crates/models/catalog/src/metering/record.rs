//! How measured use is stored: JSON with a version (`docs/formats/metering.md`).

use super::Use;
use crate::definition::Throughput;
use bytes::Bytes;
use orrery_kv::Error;
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Record {
    v: u32,
    database: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    requests: u64,
    units: u64,
    peak: u64,
    bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    manual: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    autoscale: Option<u64>,
}

pub(super) fn write(used: &Use) -> Bytes {
    let (manual, autoscale) = match used.throughput {
        None => (None, None),
        Some(Throughput::Manual(units)) => (Some(units), None),
        Some(Throughput::Autoscale { max, .. }) => (None, Some(max)),
    };
    let record = Record {
        v: VERSION,
        database: used.database.clone(),
        container: used.container.clone(),
        requests: used.requests,
        units: used.hundredths,
        peak: used.peak_hundredths,
        bytes: used.bytes,
        manual,
        autoscale,
    };
    Bytes::from(serde_json::to_vec(&record).expect("plain data is JSON"))
}

pub(super) fn read(bytes: &[u8]) -> Result<Use, Error> {
    let record: Record = serde_json::from_slice(bytes)
        .map_err(|error| Error::Corrupt(format!("a row of measured use cannot be read: {error}")))?;
    if record.v != VERSION {
        return Err(Error::Corrupt(format!("a row of measured use has version {}", record.v)));
    }
    let autoscale = record.autoscale.map(|max| Throughput::Autoscale { max, increment_percent: None });
    Ok(Use {
        database: record.database,
        container: record.container,
        requests: record.requests,
        hundredths: record.units,
        peak_hundredths: record.peak,
        bytes: record.bytes,
        throughput: record.manual.map(Throughput::Manual).or(autoscale),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes are a stored format: what is here once must always be read.
    #[test]
    fn version_one_is_read() {
        let stored = br#"{"v":1,"database":"d","container":"c","requests":3,"units":1500,"peak":700,"bytes":42,"autoscale":4000}"#;
        let used = read(stored).expect("a row");
        assert_eq!(used.throughput, Some(Throughput::Autoscale { max: 4000, increment_percent: None }));
        assert_eq!(
            (used.container.as_deref(), used.hundredths, used.peak_hundredths),
            (Some("c"), 1500, 700)
        );
        assert_eq!(&write(&used)[..], stored);
        assert!(read(br#"{"v":2,"database":"d","requests":0,"units":0,"peak":0,"bytes":0}"#).is_err());
        assert!(read(b"{").is_err());
    }
}
