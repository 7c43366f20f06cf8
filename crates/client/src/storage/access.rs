//! Stored access policies of tables and queues: `comp=acl`, in XML.

use super::call::{Call, Repeat};
use super::endpoint::Endpoint;
use super::error::StorageError;
use super::queues::Queues;
use super::tables::Tables;
use super::xml::{self, Element};
use crate::call::segment;
use http::Method;

/// What signatures that name it are allowed. Times and letters are the service's own texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredPolicy {
    pub id: String,
    pub start: Option<String>,
    pub expiry: Option<String>,
    pub permissions: Option<String>,
}

impl Tables {
    pub async fn access_policies(&self, table: &str) -> Result<Vec<StoredPolicy>, StorageError> {
        get(self.endpoint(), table).await
    }

    /// Replaces all of them.
    pub async fn set_access_policies(
        &self,
        table: &str,
        policies: &[StoredPolicy],
    ) -> Result<(), StorageError> {
        set(self.endpoint(), table, policies).await
    }
}

impl Queues {
    pub async fn access_policies(&self, queue: &str) -> Result<Vec<StoredPolicy>, StorageError> {
        get(self.endpoint(), queue).await
    }

    /// Replaces all of them.
    pub async fn set_access_policies(
        &self,
        queue: &str,
        policies: &[StoredPolicy],
    ) -> Result<(), StorageError> {
        set(self.endpoint(), queue, policies).await
    }
}

async fn get(endpoint: &Endpoint, resource: &str) -> Result<Vec<StoredPolicy>, StorageError> {
    let call = Call::new(Method::GET, format!("/{}", segment(resource))).parameter("comp", "acl");
    read(&endpoint.send(&call).await?.body)
}

async fn set(endpoint: &Endpoint, resource: &str, policies: &[StoredPolicy]) -> Result<(), StorageError> {
    let call = Call::new(Method::PUT, format!("/{}", segment(resource))).parameter("comp", "acl");
    let call = call.body("application/xml", write(policies)?).repeat(Repeat::Safe);
    endpoint.send(&call).await.map(drop)
}

fn read(body: &[u8]) -> Result<Vec<StoredPolicy>, StorageError> {
    let root = xml::read(body)?;
    root.children_named("SignedIdentifier").map(policy).collect()
}

fn policy(element: &Element) -> Result<StoredPolicy, StorageError> {
    let of = |name: &str| {
        let text = element.child("AccessPolicy").and_then(|policy| policy.text_of(name));
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let (start, expiry, permissions) = (of("Start"), of("Expiry"), of("Permission"));
    Ok(StoredPolicy { id: element.required("Id")?.to_owned(), start, expiry, permissions })
}

fn write(policies: &[StoredPolicy]) -> Result<String, StorageError> {
    let mut out = "<SignedIdentifiers>".to_owned();
    for StoredPolicy { id, start, expiry, permissions } in policies {
        out += &format!("<SignedIdentifier><Id>{}</Id><AccessPolicy>", xml::escaped(id)?);
        for (name, text) in [("Start", start), ("Expiry", expiry), ("Permission", permissions)] {
            if let Some(text) = text {
                out += &format!("<{name}>{}</{name}>", xml::escaped(text)?);
            }
        }
        out += "</AccessPolicy></SignedIdentifier>";
    }
    out += "</SignedIdentifiers>";
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let text = |text: &str| Some(text.to_owned());
        let all = StoredPolicy {
            id: "a & b".to_owned(),
            start: text("2026-11-15"),
            expiry: text("2026-11-16T00:00:00.0000000Z"),
            permissions: text("raud"),
        };
        let open = StoredPolicy { id: "open".to_owned(), ..StoredPolicy::default() };
        let policies = [all, open];
        let written = write(&policies).expect("XML");
        assert_eq!(read(written.as_bytes()), Ok(policies.to_vec()));
        assert_eq!(read(b"<SignedIdentifiers />"), Ok(Vec::new()));
        assert!(read(b"<SignedIdentifiers><SignedIdentifier/></SignedIdentifiers>").is_err());
    }
}
