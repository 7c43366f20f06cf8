//! Credentials: an account with its key, a shared access signature, or a bearer token.

use orrery_protocol::Key;
use orrery_protocol::storage::ConnectionString;
use std::sync::Arc;

/// Never printed.
#[derive(Clone)]
pub enum StorageCredential {
    Key {
        account: String,
        key: Key,
    },
    /// The query of a URL, without the question mark.
    Sas(String),
    /// Called for every request, so that the token can be renewed.
    Token(Arc<dyn Fn() -> String + Send + Sync>),
}

impl StorageCredential {
    /// An account's key, in Base64.
    pub fn key(account: &str, text: &str) -> Result<Self, String> {
        let key = Key::parse(text).map_err(|error| format!("the key of '{account}' is not one: {error}"))?;
        Ok(Self::Key { account: account.to_owned(), key })
    }

    pub fn sas(query: &str) -> Self {
        Self::Sas(query.trim_start_matches('?').to_owned())
    }

    pub fn token(text: String) -> Self {
        Self::Token(Arc::new(move || text.clone()))
    }

    /// The key of a connection string, or its signature if it has no key.
    pub fn of(connection: &ConnectionString) -> Result<Self, String> {
        match (&connection.account, &connection.key, &connection.sas) {
            (Some(account), Some(key), _) => Self::key(account, key),
            (_, _, Some(sas)) => Ok(Self::sas(sas)),
            _ => Err("the connection string has neither a key nor a signature".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_string_has_a_key_or_a_signature() {
        let of = |text: &str| {
            let connection = ConnectionString::parse(text).expect(text);
            StorageCredential::of(&connection)
        };
        let key = of("AccountName=a;AccountKey=YQ==;SharedAccessSignature=sig=x");
        assert!(matches!(key, Ok(StorageCredential::Key { account, .. }) if account == "a"));
        let sas = of("QueueEndpoint=http://h/a;SharedAccessSignature=?sv=1&sig=x");
        assert!(matches!(sas, Ok(StorageCredential::Sas(query)) if query == "sv=1&sig=x"));
        assert!(of("AccountName=a;AccountKey=no!").is_err());
    }
}
