//! The services port of a running server, for the verbs that ask it.

use super::address::Address;
use super::answer::Answer;
use super::connection::Connection;
use bytes::Bytes;
use clap::Args;
use http::request::Builder;
use http_body_util::Full;
use serde::de::DeserializeOwned;

/// The flag that says where it is.
#[derive(Args)]
pub struct ServicesFlags {
    /// The server's services port, which answers to its own machine only [default: port 8080 of the server's machine]
    #[arg(long, env = "ORRERY_SERVICES_URL", global = true)]
    services_url: Option<String>,
}

const PORT: u16 = 8080;

impl ServicesFlags {
    /// For a verb that knows the server by its account.
    pub fn beside(&self, server: &Address) -> Result<Address, String> {
        match &self.services_url {
            Some(url) => Address::parse("--services-url", url),
            None => Ok(Address { port: PORT, ..server.clone() }),
        }
    }

    /// For one that asks nothing else.
    pub fn here(&self) -> Result<Address, String> {
        self.beside(&Address { host: "127.0.0.1".to_owned(), port: PORT })
    }
}

/// A connection to it.
pub struct Services {
    address: Address,
    connection: Connection,
}

impl Services {
    pub async fn open(address: Address) -> Result<Self, String> {
        let connection =
            Connection::open(&address, "; start one with orrery serve, or give --services-url").await?;
        Ok(Self { address, connection })
    }

    /// Whatever it answers.
    pub async fn exchange(&mut self, request: Builder, body: Bytes) -> Result<Answer, String> {
        let request = request.header("host", self.address.authority()).body(Full::new(body));
        let request = request.map_err(|error| format!("the request cannot be written: {error}"))?;
        self.connection.exchange(request).await
    }

    /// What it answers if it does what it is asked; else why not.
    pub async fn ask<T: DeserializeOwned>(&mut self, request: Builder, body: Bytes) -> Result<T, String> {
        let answer = self.exchange(request, body).await?;
        if !answer.status.is_success() {
            return Err(answer.refusal());
        }
        serde_json::from_slice(&answer.body)
            .map_err(|error| format!("the server's answer is not understood: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_beside_the_server_unless_it_is_named() {
        let address = |host: &str, port| Address { host: host.to_owned(), port };
        let flags = |url: Option<&str>| ServicesFlags { services_url: url.map(str::to_owned) };
        assert_eq!(flags(None).beside(&address("db", 8081)), Ok(address("db", 8080)));
        assert_eq!(flags(None).here(), Ok(address("127.0.0.1", 8080)));
        assert_eq!(flags(Some("http://a:1")).beside(&address("db", 8081)), Ok(address("a", 1)));
        assert!(flags(Some("a:1")).here().is_err_and(|sentence| sentence.starts_with("--services-url")));
    }
}
