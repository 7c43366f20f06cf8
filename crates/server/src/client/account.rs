//! An account of a server: requests to it are signed as every client signs.

use super::address::Address;
use http::{Method, Request, request::Builder};
use orrery_api_common::{EMULATOR_KEY, Key, string_to_sign};
use orrery_core::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

pub struct Account {
    pub address: Address,
    key: Key,
}

const PROTOCOL_VERSION: &str = "2020-07-15";
/// What stays readable inside one segment of a path.
pub const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

impl Account {
    /// At a `--url`, with a `--key` or else the published one.
    pub fn parse(url: &str, key: Option<&str>) -> Result<Self, String> {
        let address = Address::parse("--url", url)?;
        let key =
            Key::parse(key.unwrap_or(EMULATOR_KEY)).map_err(|error| format!("--key is not one: {error}"))?;
        Ok(Self { address, key })
    }

    /// A request for `path`. It is signed for `link`, the names as they are: of the resource itself, or of the owner
    /// when all of a `kind` are meant.
    pub fn request(&self, verb: Method, kind: &str, link: &str, path: &str, now: Timestamp) -> Builder {
        let date = now.to_http();
        let signature = self.key.sign(&string_to_sign(verb.as_str(), kind, link, &date, ""));
        let token = format!("type=master&ver=1.0&sig={signature}");
        Request::builder()
            .method(verb)
            .uri(path)
            .header("host", self.address.authority())
            .header("authorization", utf8_percent_encode(&token, NON_ALPHANUMERIC).to_string())
            .header("x-ms-date", date)
            .header("x-ms-version", PROTOCOL_VERSION)
    }
}
