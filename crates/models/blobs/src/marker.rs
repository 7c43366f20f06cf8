//! Markers: where the next page of a list begins, in a form that survives URLs and XML.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

pub(crate) fn write(position: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(position)
}

/// `None`: not one of ours.
pub(crate) fn read(marker: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(marker).ok()
}
