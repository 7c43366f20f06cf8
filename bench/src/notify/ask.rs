//! Requests to the service: as few bytes moved as can be while rates are taken, convenient ones otherwise.

use crate::drive::Worker;
use crate::error::Error;
use crate::item::Random;
use orrery_core::Timestamp;
use orrery_testing_client::{Connection, EMULATOR_KEY};
use serde_json::{Value, json};

/// How many digits the number of a user has.
const DIGITS: usize = 6;
const ZEROS: &str = "000000";
const TAKEN: &[u8] = b"\"status\":\"PENDING\"";

/// A request that sends an event. The next one differs in the digits of its user alone, so that no JSON is built
/// while rates are taken.
#[derive(Clone)]
pub struct Event {
    bytes: Vec<u8>,
    places: Vec<usize>,
}

impl Event {
    /// Not before `at`, in seconds, if it is given.
    pub fn new(at: Option<u64>) -> Self {
        let mut body = json!({
            "userId": user(0),
            "eventType": "POST_COMMENT",
            "payload": {
                "actorId": "user-900001", "actorName": "Noor", "targetId": format!("post-{ZEROS}"), "targetType": "post",
                "snippet": "Morning on the pier, and nobody there but the gulls",
            },
        });
        if let Some(at) = at {
            body["scheduledAt"] = orrery_kit::time::format(Timestamp::from_seconds(at)).into();
        }
        let bytes = request("POST", "/v1/notifications/events", &body);
        let names = [format!("\"user-{ZEROS}\""), format!("\"post-{ZEROS}\"")];
        let starts = bytes.windows(names[0].len()).enumerate();
        let found = starts.filter(|(_, window)| names.iter().any(|name| name.as_bytes() == *window));
        let places = found.map(|(at, _)| at + "\"user-".len()).collect();
        Self { bytes, places }
    }

    pub fn to(&mut self, user_number: u64) -> &[u8] {
        for place in &self.places {
            let mut rest = user_number;
            for digit in self.bytes[*place..*place + DIGITS].iter_mut().rev() {
                *digit = b'0' + (rest % 10) as u8;
                rest /= 10;
            }
        }
        &self.bytes
    }
}

/// One connection that sends events to users drawn by chance.
pub struct Sender {
    pub connection: Connection,
    pub users: u64,
    pub event: Event,
    pub random: Random,
}

impl Worker for Sender {
    async fn once(&mut self) -> Result<(), String> {
        let request = self.event.to(self.random.below(self.users));
        let reply = self.connection.exchange(request).await.map_err(|error| error.to_string())?;
        if reply.status == 202 && reply.body.windows(TAKEN.len()).any(|window| window == TAKEN) {
            return Ok(());
        }
        Err(format!("status {}: {}", reply.status, String::from_utf8_lossy(reply.body)))
    }
}

pub fn user(number: u64) -> String {
    format!("user-{number:0DIGITS$}")
}

pub async fn send(connection: &mut Connection, request: &[u8]) -> Result<Value, Error> {
    let reply = connection.exchange(request).await?;
    if !(200..300).contains(&reply.status) {
        let said = String::from_utf8_lossy(reply.body).into_owned();
        return Err(Error::Unexpected(format!("status {}: {said}", reply.status)));
    }
    Ok(serde_json::from_slice(reply.body).unwrap_or_default())
}

pub async fn call(
    connection: &mut Connection,
    method: &str,
    path: &str,
    body: &Value,
) -> Result<Value, Error> {
    send(connection, &request(method, path, body)).await
}

pub async fn get(connection: &mut Connection, path: &str) -> Result<Value, Error> {
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {EMULATOR_KEY}\r\n\r\n");
    send(connection, request.as_bytes()).await
}

pub async fn now(connection: &mut Connection) -> Result<u64, Error> {
    let clock = get(connection, "/v1/clock").await?;
    let seconds = clock["now_ms"].as_u64().map(|millis| millis / 1000);
    seconds.ok_or_else(|| Error::Unexpected(format!("no time in {clock}")))
}

pub async fn advance(connection: &mut Connection, seconds: u64) -> Result<(), Error> {
    call(connection, "POST", "/v1/clock", &json!({"advance_seconds": seconds})).await.map(drop)
}

fn request(method: &str, path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {EMULATOR_KEY}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_event_differs_in_its_user_and_target_alone() {
        let mut event = Event::new(Some(1_800_000_000));
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let (first, next) = (text(event.to(0)), text(event.to(100_000)));
        assert!(next.contains("\"userId\":\"user-100000\"") && next.contains("\"targetId\":\"post-100000\""));
        assert!(next.contains("\"actorId\":\"user-900001\""), "{next}");
        assert_eq!(next.replace("-100000", "-000000"), first);
        assert_eq!(text(event.to(42)).matches("-000042\"").count(), 2);
        let body: Value = serde_json::from_str(next.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(body["scheduledAt"], "2027-01-15T08:00:00.000Z");
    }
}
