//! Which server and container a query goes to, and what is asked of it, page by page.

use super::pages::Ask;
use crate::blueprints::Named;
use crate::client::{Account, AccountFlags, CROSS_PARTITION, Call, Merged, Remote};
use bytes::Bytes;
use clap::Args;
use orrery_core::Env;
use orrery_protocol::ascii_json;
use orrery_value::Value;

#[derive(Args)]
pub struct Target {
    #[command(flatten)]
    account: AccountFlags,
    /// The database
    #[arg(long)]
    database: Option<String>,
    /// The container
    #[arg(long)]
    container: Option<String>,
    /// Ask only the partition of this key; an array for a hierarchical key
    #[arg(long, value_name = "JSON")]
    partition_key: Option<String>,
}

impl Target {
    fn is_any_given(&self) -> bool {
        self.database.is_some() || self.container.is_some() || self.partition_key.is_some()
    }

    /// Whether a container is named.
    pub fn is_named(&self) -> bool {
        self.database.is_some() && self.container.is_some()
    }
}

/// A container of a server.
pub struct Endpoint {
    account: Account,
    database: String,
    container: String,
    /// An array in ASCII, as the header wants it.
    partition_key: Option<String>,
    /// Whether the server is asked which indexes it used.
    shows_indexes: bool,
    /// Whether ranges are merged here, even if the server would do it.
    merges: bool,
}

impl Endpoint {
    /// The container of a named query, which says its partition itself.
    pub fn of_named(target: &Target, named: &Named) -> Result<Self, String> {
        if target.is_any_given() {
            return Err("a query of a blueprint says itself which container it asks; leave out --database, --container and \
                        --partition-key"
                .to_owned());
        }
        Ok(Self {
            account: target.account.account()?,
            database: named.database.clone(),
            container: named.container.clone(),
            partition_key: named.partition_key.clone(),
            shows_indexes: true,
            merges: false,
        })
    }

    pub fn parse(target: &Target) -> Result<Self, String> {
        let (Some(database), Some(container)) = (&target.database, &target.container) else {
            return Err("say which container to ask: --database D --container C; \
                        or --explain, which needs none"
                .to_owned());
        };
        Ok(Self {
            account: target.account.account()?,
            database: database.clone(),
            container: container.clone(),
            partition_key: target.partition_key.as_deref().map(partition_key).transpose()?,
            shows_indexes: false,
            merges: false,
        })
    }

    pub fn merging(self, merges: bool) -> Self {
        Self { merges, ..self }
    }

    /// A container that the shell has chosen.
    pub fn of_container(account: Account, database: &str, container: &str) -> Self {
        let (database, container) = (database.to_owned(), container.to_owned());
        Self { account, database, container, partition_key: None, shows_indexes: false, merges: false }
    }

    pub async fn remote(&self) -> Result<Remote, String> {
        let env = Env::system().map_err(|error| error.to_string())?;
        Remote::at_once(self.account.clone(), env).await
    }

    /// The query merged over the container's ranges.
    pub async fn merged<'a>(
        &'a self,
        remote: &'a Remote,
        body: &Bytes,
    ) -> Result<Merged<'a, Remote>, String> {
        Merged::begin(remote, &self.database, &self.container, body).await
    }

    /// One page.
    pub fn call(&self, ask: &Ask<'_>) -> Call {
        let mut call = Call::query(&self.database, &self.container, ask.body.clone());
        call.headers.retain(|(name, _)| !self.merges || *name != CROSS_PARTITION);
        call.header_if("x-ms-documentdb-partitionkey", self.partition_key.clone())
            .after(ask.continuation.map(str::to_owned))
            .header_if("x-ms-max-item-count", ask.rows_max.map(|rows| rows.to_string()))
            .header_if("x-ms-cosmos-populateindexmetrics-v2", self.shows_indexes.then(|| "True".to_owned()))
    }
}

/// A key of one part may come without its array: no part of a key is an array itself.
pub fn partition_key(json: &str) -> Result<String, String> {
    let key = Value::parse(json).map_err(|error| {
        format!(
            "--partition-key '{json}' is not JSON ({error}); a string has quotes of its own, as in '\"sol\"'"
        )
    })?;
    let parts = if matches!(key, Value::Array(_)) { key } else { Value::Array(vec![key]) };
    Ok(ascii_json(&parts.to_json()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::Timestamp;

    fn target(url: &str) -> Target {
        Target {
            account: AccountFlags::with_key(url.to_owned(), None),
            database: Some("my db".to_owned()),
            container: Some("é".to_owned()),
            partition_key: Some("\"söl\"".to_owned()),
        }
    }

    #[test]
    fn a_request_is_signed_over_names_and_sent_with_them_encoded() {
        let endpoint = Endpoint::parse(&target("http://localhost:8081/")).expect("an endpoint");
        assert_eq!(endpoint.account.host.address.authority(), "localhost:8081");
        let ask = Ask { body: Bytes::from_static(b"{}"), continuation: Some("t"), rows_max: Some(3) };
        let now = Timestamp::parse_http("Thu, 27 Apr 2017 00:51:12 GMT").expect("a date");
        let request = endpoint.call(&ask).request(&endpoint.account, now).expect("a request");
        assert_eq!(request.uri(), "/dbs/my%20db/colls/%C3%A9/docs");
        let header = |name: &str| request.headers()[name].to_str().expect("ASCII").to_owned();
        assert_eq!(header("x-ms-documentdb-partitionkey"), "[\"s\\u00f6l\"]");
        assert_eq!(header("content-type"), "application/query+json");
        assert_eq!((header("x-ms-continuation"), header("x-ms-max-item-count")), ("t".into(), "3".into()));
        // Made with Python's hmac over "post\ndocs\ndbs/my db/colls/é\nthu, 27 apr 2017 00:51:12 gmt\n\n".
        let signed = "type%3Dmaster%26ver%3D1%2E0%26sig%3DSd8DgPBjjtTPcLiFc7K5RyMIln0DFfQVkgUXW%2BsATPw%3D";
        assert_eq!(header("authorization"), signed);
    }

    #[test]
    fn a_partition_key_is_an_array_of_its_parts() {
        let check = |json: &str, expected: &str| assert_eq!(partition_key(json).as_deref(), Ok(expected));
        check("5", "[5]");
        check("null", "[null]");
        check("{}", "[{}]");
        check("[\"a\", 1]", "[\"a\",1]");
        check("\"🚀\\n\"", "[\"\\ud83d\\ude80\\n\"]");
        assert!(partition_key("sol").is_err_and(|sentence| sentence.contains("quotes of its own")));
    }

    #[test]
    fn a_container_must_be_named() {
        let target = Target { container: None, ..target("http://localhost") };
        assert!(Endpoint::parse(&target).is_err_and(|sentence| sentence.contains("--container")));
    }
}
