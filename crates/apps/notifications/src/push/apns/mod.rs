//! Apple Push Notification service: `POST /3/device/{token}` over HTTP/2 with a provider token.
//!
//! A provider token that has expired is replaced once; the connection is shared by all pushes.

mod answer;
mod body;
mod provider_token;

use super::Message;
use super::options::ApnsOptions;
use super::outcome::{self, Outcome};
use crate::limits;
use crate::records::Device;
use answer::Answer;
use bytes::Bytes;
use http::{Request, header};
use orrery_core::Env;
use orrery_kit::http::Client;
use provider_token::ProviderToken;
use std::time::Duration;

pub struct Apns {
    client: Client,
    token: ProviderToken,
    topic: String,
    base_url: String,
    env: Env,
}

const NAME: &str = "APNs";
const TIME_MAX: Duration = Duration::from_secs(limits::PUSH_SECONDS_MAX);
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

impl Apns {
    pub fn new(options: ApnsOptions, env: Env) -> Result<Self, String> {
        let client = Client::new(options.tls).map_err(|why| format!("apns.trustFile: {why}"))?;
        let token = ProviderToken::new(options.key, options.team);
        Ok(Self { client, token, topic: options.topic, base_url: options.base_url, env })
    }

    pub async fn push(&self, device: &Device, message: &Message) -> Outcome {
        let body = Bytes::from(body::write(message).to_string());
        let token = match self.token.get(self.env.now(), None) {
            Ok(token) => token,
            Err(reason) => return Outcome::Misconfigured { reason, status: None },
        };
        if let Answer::Ended(outcome) = self.send(&token, device, message, body.clone()).await {
            return outcome;
        }
        let another = match self.token.get(self.env.now(), Some(&token)) {
            Ok(another) => another,
            Err(reason) => return Outcome::Misconfigured { reason, status: None },
        };
        // A token was made a moment ago, and another would be no newer.
        if another != token
            && let Answer::Ended(outcome) = self.send(&another, device, message, body).await
        {
            return outcome;
        }
        let reason =
            "APNs says that a provider token made just now has expired; is this machine's clock right?";
        Outcome::Misconfigured { reason: reason.to_owned(), status: Some(403) }
    }

    async fn send(&self, token: &str, device: &Device, message: &Message, body: Bytes) -> Answer {
        // Without an expiration, APNs would discard it if the device is off.
        let expires = self.env.now().plus(KEPT).seconds();
        let request = Request::post(format!("{}/3/device/{}", self.base_url, device.push_token))
            .header(header::AUTHORIZATION, format!("bearer {token}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header("apns-topic", &self.topic)
            .header("apns-push-type", "alert")
            .header("apns-priority", if message.is_pressing() { "10" } else { "5" })
            .header("apns-expiration", expires)
            .header("apns-collapse-id", message.short_collapse_id())
            .body(body);
        let Ok(request) = request else {
            let reason = "the device's token cannot stand in an address".to_owned();
            return Answer::Ended(Outcome::Unregistered { reason, status: None });
        };
        match self.client.send(request, TIME_MAX, limits::PUSH_ANSWER_BYTES_MAX).await {
            Ok(answer) => {
                let after = outcome::retry_after(answer.headers(), self.env.now());
                answer::read(answer.status().as_u16(), after, answer.body())
            }
            Err(error) => Answer::Ended(Outcome::unsent(NAME, &error)),
        }
    }
}
