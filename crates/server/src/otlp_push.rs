//! `--otlp URL`: pushes measurements to a collector every few seconds, and once more when the server
//! stops.

use crate::client::{Address, Host};
use crate::limits;
use bytes::Bytes;
use http::Request;
use orrery_api_admin::monitor::{Watch, otlp};
use orrery_api_common::Stop;
use std::time::Duration;

/// The collector's URL and the interval.
#[derive(Clone, Debug)]
pub struct Push {
    pub address: Address,
    pub every: Duration,
}

impl Push {
    pub fn parse(url: &str, seconds: u64) -> Result<Self, String> {
        let url = url.strip_suffix("/v1/metrics").unwrap_or(url);
        let address = Address::parse("--otlp", url).ok().filter(|address| !address.is_tls);
        let address = address.ok_or_else(|| {
            format!("--otlp '{url}' is not like http://127.0.0.1:4318; collectors are spoken to in http")
        })?;
        if seconds == 0 {
            return Err("--otlp-seconds 0 would send without end; give at least 1".to_owned());
        }
        Ok(Self { address, every: Duration::from_secs(seconds) })
    }

    pub async fn run(self, watch: Watch, stop: Stop) {
        let mut is_well = true;
        loop {
            let is_last = tokio::select! {
                () = tokio::time::sleep(self.every) => false,
                () = stop.stopped() => true,
            };
            let sent = self.send(&watch).await;
            match &sent {
                Err(error) if is_well => {
                    tracing::warn!(%error, "the collector did not take the measurements; it is tried again")
                }
                Ok(()) if !is_well => tracing::info!("the collector takes measurements again"),
                _ => {}
            }
            is_well = sent.is_ok();
            if is_last {
                return;
            }
        }
    }

    async fn send(&self, watch: &Watch) -> Result<(), String> {
        let told = watch.clone();
        let gathered = tokio::task::spawn_blocking(move || {
            let families = told.families(true);
            otlp::write(&families, told.started(), told.now())
        });
        let message = gathered.await.map_err(|error| error.to_string())?.to_string();
        let request = Request::post("/v1/metrics")
            .header("host", self.address.authority())
            .header("content-type", "application/json")
            .body(Bytes::from(message))
            .map_err(|error| error.to_string())?;
        let exchange = async {
            let connection = Host::new(self.address.clone(), None)?.connect("").await?;
            let answer = connection.exchange(request).await?;
            if answer.status.is_success() { Ok(()) } else { Err(answer.refusal()) }
        };
        let late = |_| "it took too long".to_owned();
        tokio::time::timeout(Duration::from_secs(limits::OTLP_SECONDS_MAX), exchange).await.map_err(late)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_an_http_address() {
        let check =
            |url: &str, seconds, expected: Result<u16, &str>| match (Push::parse(url, seconds), expected) {
                (Ok(push), Ok(port)) => assert_eq!(push.address.port, port, "{url}"),
                (Err(sentence), Err(fragment)) => assert!(sentence.contains(fragment), "{sentence}"),
                (other, _) => panic!("{url}: {other:?}"),
            };
        check("http://localhost:4318", 10, Ok(4318));
        check("http://localhost:4318/v1/metrics", 10, Ok(4318));
        check("https://localhost:4318", 10, Err("spoken to in http"));
        check("http://localhost:4318", 0, Err("at least 1"));
    }
}
