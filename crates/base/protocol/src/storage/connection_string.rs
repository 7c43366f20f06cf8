//! Connection strings: an account, its key or signature, and where its services are, as people paste them (wire guide §1.1).
//!
//! Keys are known in any case, values may contain `=`. What is not known is passed over, as the SDKs do.

use super::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, Service};
use std::fmt;

#[derive(Clone, PartialEq, Eq)]
pub struct ConnectionString {
    pub account: Option<String>,
    /// In Base64.
    pub key: Option<String>,
    /// A token, without the question mark.
    pub sas: Option<String>,
    pub blob: Endpoints,
    pub queue: Endpoints,
    pub table: Endpoints,
}

/// Where one service of an account is, without a slash at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoints {
    pub primary: Option<String>,
    pub secondary: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidConnectionString {
    #[error("a connection string is made of parts like AccountName=…, with a semicolon between them")]
    Part,
    #[error("the connection string says {0} twice")]
    Twice(&'static str),
    #[error("the connection string has neither AccountName with AccountKey nor SharedAccessSignature")]
    Credential,
    #[error("the connection string says neither where a service is nor the name of the account")]
    Endpoint,
}

pub(super) const NAMES: [&str; 14] = [
    "AccountName",
    "AccountKey",
    "SharedAccessSignature",
    "DefaultEndpointsProtocol",
    "EndpointSuffix",
    "UseDevelopmentStorage",
    "DevelopmentStorageProxyUri",
    "BlobEndpoint",
    "QueueEndpoint",
    "TableEndpoint",
    "BlobSecondaryEndpoint",
    "QueueSecondaryEndpoint",
    "TableSecondaryEndpoint",
    "FileEndpoint",
];
const SUFFIX: &str = "core.windows.net";

impl ConnectionString {
    /// Of an account at one host, path style: `http://127.0.0.1`, on the ports of each service.
    pub fn path_style(account: &str, key: &str, url: impl Fn(Service) -> String) -> Self {
        let endpoints = |service| {
            let base = url(service);
            let base = base.trim_end_matches('/');
            Endpoints {
                primary: Some(format!("{base}/{account}")),
                secondary: Some(format!("{base}/{account}-secondary")),
            }
        };
        Self {
            account: Some(account.to_owned()),
            key: Some(key.to_owned()),
            sas: None,
            blob: endpoints(Service::Blob),
            queue: endpoints(Service::Queue),
            table: endpoints(Service::Table),
        }
    }

    /// What `UseDevelopmentStorage=true` stands for.
    pub fn development() -> Self {
        let url = |service: Service| format!("http://127.0.0.1:{}", service.development_port());
        Self::path_style(DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, url)
    }

    pub fn parse(text: &str) -> Result<Self, InvalidConnectionString> {
        let parts = Parts::read(text)?;
        if parts.get("UseDevelopmentStorage").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(Self::development());
        }
        let endpoints = |service| parts.endpoints(service);
        let parsed = Self {
            account: parts.owned("AccountName"),
            key: parts.owned("AccountKey"),
            sas: parts.sas(),
            blob: endpoints(Service::Blob),
            queue: endpoints(Service::Queue),
            table: endpoints(Service::Table),
        };
        if parsed.sas.is_none() && (parsed.account.is_none() || parsed.key.is_none()) {
            return Err(InvalidConnectionString::Credential);
        }
        if Service::ALL.iter().all(|service| parsed.endpoints(*service).primary.is_none()) {
            return Err(InvalidConnectionString::Endpoint);
        }
        Ok(parsed)
    }

    pub fn endpoints(&self, service: Service) -> &Endpoints {
        match service {
            Service::Blob => &self.blob,
            Service::Queue => &self.queue,
            Service::Table => &self.table,
        }
    }
}

/// As every client reads it: with every endpoint in full.
impl fmt::Display for ConnectionString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let primary = Service::ALL.iter().find_map(|service| self.endpoints(*service).primary.as_deref());
        let scheme = primary.and_then(|url| url.split_once("://")).map(|(scheme, _)| scheme.to_owned());
        let mut parts = vec![
            ("DefaultEndpointsProtocol".to_owned(), scheme),
            ("AccountName".to_owned(), self.account.clone()),
            ("AccountKey".to_owned(), self.key.clone()),
        ];
        for (word, service) in [("Blob", Service::Blob), ("Queue", Service::Queue), ("Table", Service::Table)]
        {
            let Endpoints { primary, secondary } = self.endpoints(service).clone();
            parts.push((format!("{word}Endpoint"), primary));
            parts.push((format!("{word}SecondaryEndpoint"), secondary));
        }
        parts.push(("SharedAccessSignature".to_owned(), self.sas.clone()));
        for (name, value) in parts {
            if let Some(value) = value {
                write!(f, "{name}={value};")?;
            }
        }
        Ok(())
    }
}

/// Without the key and the signature.
impl fmt::Debug for ConnectionString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionString").field("account", &self.account).finish_non_exhaustive()
    }
}

struct Parts<'a>(Vec<(&'static str, &'a str)>);

impl<'a> Parts<'a> {
    fn read(text: &'a str) -> Result<Self, InvalidConnectionString> {
        let mut parts: Vec<(&'static str, &str)> = Vec::new();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').ok_or(InvalidConnectionString::Part)?;
            let Some(name) = NAMES.into_iter().find(|known| known.eq_ignore_ascii_case(name.trim())) else {
                continue;
            };
            if parts.iter().any(|(known, _)| *known == name) {
                return Err(InvalidConnectionString::Twice(name));
            }
            parts.push((name, value.trim()));
        }
        Ok(Self(parts))
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        let found = self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        found.filter(|value| !value.is_empty())
    }

    fn sas(&self) -> Option<String> {
        let sas = self.get("SharedAccessSignature")?.trim_start_matches(['?', ' ']);
        (!sas.is_empty()).then(|| sas.to_owned())
    }

    fn owned(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }

    /// What is not said follows from the account's name, as in Azure.
    fn endpoints(&self, service: Service) -> Endpoints {
        let (first, second) = match service {
            Service::Blob => ("BlobEndpoint", "BlobSecondaryEndpoint"),
            Service::Queue => ("QueueEndpoint", "QueueSecondaryEndpoint"),
            Service::Table => ("TableEndpoint", "TableSecondaryEndpoint"),
        };
        let trim = |url: &str| url.trim_end_matches(['/', ' ']).to_owned();
        let said = |name| self.get(name).map(trim).filter(|url| !url.is_empty());
        let has_endpoint =
            ["BlobEndpoint", "QueueEndpoint", "TableEndpoint"].iter().any(|name| self.get(name).is_some());
        let by_name = |replica: &str| {
            let scheme = self.get("DefaultEndpointsProtocol").unwrap_or("https");
            let suffix = self.get("EndpointSuffix").unwrap_or(SUFFIX);
            let account = self.get("AccountName").filter(|_| !has_endpoint)?;
            Some(trim(&format!("{scheme}://{account}{replica}.{}.{suffix}", service.word())))
        };
        Endpoints {
            primary: said(first).or_else(|| by_name("")),
            secondary: said(second).or_else(|| by_name("-secondary")),
        }
    }
}

/// The accounts of `AZURITE_ACCOUNTS`, `name:key1:key2;name:key1`: each with its two keys, which are the same if it has one.
/// None if it has another form.
pub fn azurite_accounts(text: &str) -> Option<Vec<(String, [String; 2])>> {
    let accounts = text.split(';').map(str::trim).filter(|account| !account.is_empty());
    let parsed = accounts.map(|account| {
        let mut parts = account.split(':').map(str::to_owned);
        let (name, key1) = (parts.next()?, parts.next()?);
        let key2 = parts.next().unwrap_or_else(|| key1.clone());
        (parts.next().is_none() && !name.is_empty() && !key1.is_empty()).then_some((name, [key1, key2]))
    });
    parsed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> ConnectionString {
        ConnectionString::parse(text).expect(text)
    }

    #[test]
    fn the_shortcut_stands_for_the_account_of_emulators() {
        let found = parse("UseDevelopmentStorage=true");
        assert_eq!(
            (found.account.as_deref(), found.key.as_deref()),
            (Some(DEVELOPMENT_ACCOUNT), Some(DEVELOPMENT_KEY))
        );
        assert_eq!(found.queue.primary.as_deref(), Some("http://127.0.0.1:10001/devstoreaccount1"));
        assert_eq!(
            found.table.secondary.as_deref(),
            Some("http://127.0.0.1:10002/devstoreaccount1-secondary")
        );
    }

    #[test]
    fn endpoints_follow_from_the_name_unless_they_are_said() {
        let azure =
            parse("DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=YQ==;EndpointSuffix=x.net");
        assert_eq!(azure.key.as_deref(), Some("YQ=="));
        assert_eq!(azure.queue.primary.as_deref(), Some("https://acct.queue.x.net"));
        assert_eq!(azure.blob.secondary.as_deref(), Some("https://acct-secondary.blob.x.net"));
        let own = parse("accountname=acct; ACCOUNTKEY=YQ==;QueueEndpoint=http://h:1/acct/;Other=1;");
        assert_eq!(own.queue, Endpoints { primary: Some("http://h:1/acct".into()), secondary: None });
        assert_eq!(own.blob, Endpoints::default());
        let signed = parse("TableEndpoint=http://h:1/acct;SharedAccessSignature=?sv=2026-10-06&sig=a%3D");
        assert_eq!(signed.sas.as_deref(), Some("sv=2026-10-06&sig=a%3D"));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let signed = parse("QueueEndpoint=https://h/acct;SharedAccessSignature=sv=1&sig=a=");
        let odd = parse("AccountName=a;AccountKey=/;EndpointSuffix=/");
        let marks = parse("QueueEndpoint=a;SharedAccessSignature=? ?sig=x");
        for string in [ConnectionString::development(), signed, odd, marks] {
            assert_eq!(ConnectionString::parse(&string.to_string()), Ok(string));
        }
    }

    #[test]
    fn what_is_no_connection_string_is_refused() {
        let check = |text: &str, expected| assert_eq!(ConnectionString::parse(text), Err(expected), "{text}");
        check("", InvalidConnectionString::Credential);
        check("AccountName", InvalidConnectionString::Part);
        check("AccountName=a;accountName=b", InvalidConnectionString::Twice("AccountName"));
        check("AccountName=a;AccountKey=", InvalidConnectionString::Credential);
        check("SharedAccessSignature=sig=x", InvalidConnectionString::Endpoint);
    }

    #[test]
    fn keys_and_signatures_are_never_printed() {
        assert!(!format!("{:?}", ConnectionString::development()).contains("Eby8"));
    }

    #[test]
    fn accounts_of_azurite_have_one_key_or_two() {
        let accounts = azurite_accounts("a:k1:k2;b:k=;").expect("accounts");
        let keys = |one: &str, other: &str| [one.to_owned(), other.to_owned()];
        assert_eq!(accounts, [("a".to_owned(), keys("k1", "k2")), ("b".to_owned(), keys("k=", "k="))]);
        assert!(
            azurite_accounts("a").is_none()
                && azurite_accounts("a:b:c:d").is_none()
                && azurite_accounts(":k").is_none()
        );
    }
}
