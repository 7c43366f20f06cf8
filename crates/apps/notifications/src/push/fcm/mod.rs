//! Firebase Cloud Messaging, HTTP v1: `POST /v1/projects/{project}/messages:send` with a bearer token.
//!
//! A bearer token that is refused is replaced once; refused again, the credentials are wrong.

mod answer;
mod bearer;
mod body;

use super::options::FcmOptions;
use super::outcome::Outcome;
use super::{Message, outcome};
use crate::limits;
use crate::records::Device;
use answer::Answer;
use bearer::Bearer;
use bytes::Bytes;
use http::{Request, header};
use orrery_core::Env;
use orrery_kit::http::Client;
use std::time::Duration;

pub struct Fcm {
    client: Client,
    bearer: Bearer,
    send_url: http::Uri,
    env: Env,
}

pub const NAME: &str = "FCM";
pub const TIME_MAX: Duration = Duration::from_secs(limits::PUSH_SECONDS_MAX);

impl Fcm {
    pub fn new(options: FcmOptions, env: Env) -> Result<Self, String> {
        let client = Client::new(options.tls).map_err(|why| format!("fcm.trustFile: {why}"))?;
        let bearer = Bearer::new(options.client_email, options.key, options.token_url);
        Ok(Self { client, bearer, send_url: options.send_url, env })
    }

    pub async fn push(&self, device: &Device, message: &Message) -> Outcome {
        let body = Bytes::from(body::write(&device.push_token, message).to_string());
        let mut refused = None;
        loop {
            let token = match self.bearer.get(&self.client, &self.env, refused.as_deref()).await {
                Ok(token) => token,
                Err(outcome) => return outcome,
            };
            match self.send(&token, body.clone()).await {
                Answer::Ended(outcome) => return outcome,
                Answer::BearerRefused if refused.is_none() => refused = Some(token),
                Answer::BearerRefused => {
                    let reason =
                        "FCM does not take the bearer token of the service account; is its key still valid?";
                    return Outcome::Misconfigured { reason: reason.to_owned(), status: Some(401) };
                }
            }
        }
    }

    async fn send(&self, token: &str, body: Bytes) -> Answer {
        let request = Request::post(self.send_url.clone())
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header(header::CONTENT_TYPE, "application/json")
            .body(body);
        let request = match request {
            Ok(request) => request,
            Err(_) => {
                let reason = "the bearer token that the token endpoint gave is none".to_owned();
                return Answer::Ended(Outcome::Misconfigured { reason, status: None });
            }
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
