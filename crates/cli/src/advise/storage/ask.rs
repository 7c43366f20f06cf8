//! Asking the server for the reports on tables and queues.

use crate::client::ServerFlags;
use bytes::Bytes;
use http::Request;
use orrery_protocol::storage_report::StorageReport;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Which tables and queues: all, those of an account, or of one name.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    pub account: Option<&'a str>,
    pub table: Option<&'a str>,
    pub queue: Option<&'a str>,
}

impl Wanted<'_> {
    pub fn is_everything(&self) -> bool {
        self.account.is_none() && self.table.is_none() && self.queue.is_none()
    }

    /// The paths to ask: tables, then queues, without what is not wanted.
    fn paths(&self) -> Vec<String> {
        let is_one = self.table.is_some() || self.queue.is_some();
        let services = [("table", self.table), ("queue", self.queue)].into_iter();
        let asked = services.filter(|(_, name)| name.is_some() || !is_one);
        asked.map(|(service, name)| self.path(service, name)).collect()
    }

    fn path(&self, service: &str, name: Option<&str>) -> String {
        let mut path = format!("/v1/advice?service={service}");
        for (key, value) in [("account", self.account), ("name", name)] {
            if let Some(value) = value {
                path += &format!("&{key}={}", utf8_percent_encode(value, NON_ALPHANUMERIC));
            }
        }
        path
    }
}

/// One report for each service.
pub async fn reports(server: &ServerFlags, wanted: Wanted<'_>) -> Result<Vec<StorageReport>, String> {
    let mut services = server.services_of(&server.account()?).await?;
    let mut reports = Vec::new();
    for path in wanted.paths() {
        reports.push(services.ask(Request::get(path), Bytes::new()).await?);
    }
    Ok(reports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wanted_is_asked_for() {
        let all = Wanted::default();
        assert_eq!(all.paths(), ["/v1/advice?service=table", "/v1/advice?service=queue"]);
        let one = Wanted { account: Some("a"), queue: Some("turns-1"), ..all };
        assert_eq!(one.paths(), ["/v1/advice?service=queue&account=a&name=turns%2D1"]);
    }
}
