//! The storage accounts of a data folder, with two keys each: made, listed, replaced and removed while the server runs.
//!
//! The emulators' account always exists. On loopback it accepts its published key beside its own two, as code and tests
//! expect; on other addresses only its own. A reader sees one state, old or new: a change is durable before it is
//! visible.

use super::private_file::{self, damaged};
use crate::Key;
use arc_swap::ArcSwap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orrery_core::Env;
use orrery_protocol::storage::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const FILE: &str = "storage-accounts.json";
const VERSION: u32 = 1;
const SECRET_BYTES: usize = 32;
const NAME_CHARS_MIN: usize = 3;
const NAME_CHARS_MAX: usize = 24;

#[derive(Clone, Serialize, Deserialize)]
struct Record {
    v: u32,
    accounts: BTreeMap<String, KeyTexts>,
    /// The secret from which the keys of user delegation signatures are derived.
    delegation_secret: String,
}

#[derive(Clone, Serialize, Deserialize)]
struct KeyTexts {
    key1: String,
    key2: String,
}

/// Which of the two keys of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageKeyName {
    Key1,
    Key2,
}

/// An account as shown to callers with access to its keys.
#[derive(Clone, PartialEq, Eq)]
pub struct StorageAccount {
    pub name: String,
    /// In Base64. The first one is what clients are told to use.
    pub key1: String,
    pub key2: String,
}

pub struct StorageAccounts {
    path: PathBuf,
    takes_published: bool,
    delegation_secret: [u8; SECRET_BYTES],
    record: Mutex<Record>,
    open: ArcSwap<BTreeMap<String, Arc<[Key]>>>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StorageAccountError {
    #[error("'{0}' is no name of a storage account, which has 3 to 24 lower-case letters and digits")]
    Name(String),
    #[error("there is a storage account '{0}' already")]
    Exists(String),
    #[error("there is no storage account '{0}'")]
    Missing(String),
    #[error("the storage account '{DEVELOPMENT_ACCOUNT}' cannot be removed")]
    Development,
    #[error("a key of a storage account is Base64 text of at least one byte")]
    Key,
    /// It could not be stored, and nothing has changed.
    #[error("{0}")]
    File(String),
}

impl StorageKeyName {
    pub const ALL: [Self; 2] = [Self::Key1, Self::Key2];

    pub fn name(self) -> &'static str {
        match self {
            Self::Key1 => "key1",
            Self::Key2 => "key2",
        }
    }

    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }
}

impl StorageAccounts {
    /// Loads those of a data folder. `takes_published`: whether the published key is valid for the emulators' account.
    pub fn load_or_make(folder: &Path, takes_published: bool) -> Result<Self, String> {
        let path = folder.join(FILE);
        let record = match fs::read(&path) {
            Ok(bytes) => read(&path, &bytes)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => make(&path)?,
            Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
        };
        let secret = STANDARD.decode(&record.delegation_secret).ok().and_then(|bytes| bytes.try_into().ok());
        let delegation_secret = secret.ok_or_else(|| damaged(&path, "its secret is not 32 bytes"))?;
        let open = opening(&record, takes_published).map_err(|error| damaged(&path, &error.to_string()))?;
        let (record, open) = (Mutex::new(record), ArcSwap::from_pointee(open));
        Ok(Self { path, takes_published, delegation_secret, record, open })
    }

    pub fn has(&self, name: &str) -> bool {
        self.open.load().contains_key(name)
    }

    /// The current keys of an account, if it exists.
    pub fn keys(&self, name: &str) -> Arc<[Key]> {
        self.open.load().get(name).cloned().unwrap_or_default()
    }

    /// A secret of the folder, for the keys of user delegation signatures.
    pub fn delegation_secret(&self) -> &[u8; SECRET_BYTES] {
        &self.delegation_secret
    }

    /// All accounts by name. The published key of the emulators' account comes first, if it is accepted.
    pub fn list(&self) -> Vec<StorageAccount> {
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = |(name, keys): (&String, &KeyTexts)| {
            let is_published = self.takes_published && name == DEVELOPMENT_ACCOUNT;
            let key1 = if is_published { DEVELOPMENT_KEY.to_owned() } else { keys.key1.clone() };
            StorageAccount { name: name.clone(), key1, key2: keys.key2.clone() }
        };
        record.accounts.iter().map(shown).collect()
    }

    pub fn find(&self, name: &str) -> Option<StorageAccount> {
        self.list().into_iter().find(|account| account.name == name)
    }

    /// With new keys.
    pub fn add(&self, name: &str) -> Result<StorageAccount, StorageAccountError> {
        self.add_with(name, [new_key()?, new_key()?])
    }

    /// With these keys, in Base64, for example those of another server.
    pub fn add_with(&self, name: &str, keys: [String; 2]) -> Result<StorageAccount, StorageAccountError> {
        check_name(name)?;
        let [key1, key2] = keys;
        self.change(|record| {
            if record.accounts.contains_key(name) {
                return Err(StorageAccountError::Exists(name.to_owned()));
            }
            record.accounts.insert(name.to_owned(), KeyTexts { key1: key1.clone(), key2: key2.clone() });
            Ok(())
        })?;
        Ok(StorageAccount { name: name.to_owned(), key1, key2 })
    }

    /// Replaces one key and returns the new one. The published key cannot be replaced.
    pub fn rotate(&self, name: &str, which: StorageKeyName) -> Result<String, StorageAccountError> {
        let new = new_key()?;
        self.change(|record| {
            let keys = record.accounts.get_mut(name).ok_or_else(|| missing(name))?;
            match which {
                StorageKeyName::Key1 => keys.key1 = new.clone(),
                StorageKeyName::Key2 => keys.key2 = new.clone(),
            }
            Ok(())
        })?;
        Ok(new)
    }

    /// Removes the account. Its data stays, and is accessible again under a new account of the same name.
    pub fn remove(&self, name: &str) -> Result<(), StorageAccountError> {
        if name == DEVELOPMENT_ACCOUNT {
            return Err(StorageAccountError::Development);
        }
        self.change(|record| record.accounts.remove(name).map(drop).ok_or_else(|| missing(name)))
    }

    /// Serialises changes, so that the later of two wins.
    fn change(
        &self,
        change: impl FnOnce(&mut Record) -> Result<(), StorageAccountError>,
    ) -> Result<(), StorageAccountError> {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = record.clone();
        change(&mut next)?;
        let open = opening(&next, self.takes_published)?;
        write(&self.path, &next).map_err(StorageAccountError::File)?;
        *record = next;
        self.open.store(Arc::new(open));
        Ok(())
    }
}

fn opening(
    record: &Record,
    takes_published: bool,
) -> Result<BTreeMap<String, Arc<[Key]>>, StorageAccountError> {
    let key = |text: &str| Key::parse(text).map_err(|_| StorageAccountError::Key);
    let open = record.accounts.iter().map(|(name, keys)| {
        let mut open = vec![key(&keys.key1)?, key(&keys.key2)?];
        if takes_published && name == DEVELOPMENT_ACCOUNT {
            open.insert(0, key(DEVELOPMENT_KEY)?);
        }
        Ok((name.clone(), Arc::from(open)))
    });
    open.collect()
}

fn check_name(name: &str) -> Result<(), StorageAccountError> {
    let is_name = (NAME_CHARS_MIN..=NAME_CHARS_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if is_name { Ok(()) } else { Err(StorageAccountError::Name(name.to_owned())) }
}

fn missing(name: &str) -> StorageAccountError {
    StorageAccountError::Missing(name.to_owned())
}

fn new_key() -> Result<String, StorageAccountError> {
    let bytes = Env::secret::<64>().map_err(|error| StorageAccountError::File(error.to_string()))?;
    Ok(STANDARD.encode(bytes))
}

fn make(path: &Path) -> Result<Record, String> {
    let key = || new_key().map_err(|error| error.to_string());
    let keys = KeyTexts { key1: key()?, key2: key()? };
    let secret = Env::secret::<SECRET_BYTES>().map_err(|error| error.to_string())?;
    let record = Record {
        v: VERSION,
        accounts: BTreeMap::from([(DEVELOPMENT_ACCOUNT.to_owned(), keys)]),
        delegation_secret: STANDARD.encode(secret),
    };
    write(path, &record)?;
    Ok(record)
}

fn read(path: &Path, bytes: &[u8]) -> Result<Record, String> {
    let record: Record = private_file::read_record(path, bytes, VERSION)?;
    if !record.accounts.contains_key(DEVELOPMENT_ACCOUNT) {
        return Err(damaged(path, &format!("it has no account '{DEVELOPMENT_ACCOUNT}'")));
    }
    let named = record.accounts.keys().try_for_each(|name| check_name(name));
    named.map_err(|error| damaged(path, &error.to_string()))?;
    Ok(record)
}

fn write(path: &Path, record: &Record) -> Result<(), String> {
    let text = serde_json::to_vec_pretty(record).map_err(|error| error.to_string())?;
    private_file::replace(path, &text)
        .map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

impl std::fmt::Debug for StorageAccount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StorageAccount").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Signature;
    use std::os::unix::fs::PermissionsExt as _;

    fn opens(accounts: &StorageAccounts, name: &str, key: &str) -> bool {
        let signature = Key::parse(key).expect("a key").sign("lines");
        let signature = Signature::parse(&signature).expect("a signature");
        accounts.keys(name).iter().any(|key| key.verify("lines", &signature))
    }

    #[test]
    fn the_published_key_opens_on_loopback_and_nowhere_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let load = |takes_published| {
            StorageAccounts::load_or_make(folder.path(), takes_published).expect("accounts")
        };
        let own = load(false).find(DEVELOPMENT_ACCOUNT).expect("it is always there");
        assert!(!opens(&load(false), DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY));
        assert!(opens(&load(true), DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY));
        for key in [&own.key1, &own.key2] {
            assert!(
                opens(&load(false), DEVELOPMENT_ACCOUNT, key) && opens(&load(true), DEVELOPMENT_ACCOUNT, key)
            );
        }
        assert_eq!(load(true).list()[0].key1, DEVELOPMENT_KEY);
        assert_eq!(load(false).list()[0].key1, own.key1);
    }

    #[test]
    fn accounts_and_their_keys_change_while_they_are_used_and_outlive_the_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let load = || StorageAccounts::load_or_make(folder.path(), true).expect("accounts");
        let accounts = load();
        let added = accounts.add("orders").expect("added");
        assert_eq!(accounts.add("orders"), Err(StorageAccountError::Exists("orders".into())));
        let new = accounts.rotate("orders", StorageKeyName::Key1).expect("replaced");
        for accounts in [&accounts, &load()] {
            assert!(opens(accounts, "orders", &new) && opens(accounts, "orders", &added.key2));
            assert!(!opens(accounts, "orders", &added.key1), "it was replaced");
            assert!(
                !opens(accounts, "orders", DEVELOPMENT_KEY) && !opens(accounts, DEVELOPMENT_ACCOUNT, &new)
            );
        }
        assert_eq!(load().delegation_secret(), accounts.delegation_secret());
        accounts.remove("orders").expect("removed");
        assert!(!accounts.has("orders") && !load().has("orders") && !opens(&accounts, "orders", &new));
        assert_eq!(accounts.remove("orders"), Err(missing("orders")));
        assert_eq!(accounts.rotate("orders", StorageKeyName::Key2), Err(missing("orders")));
        assert_eq!(accounts.remove(DEVELOPMENT_ACCOUNT), Err(StorageAccountError::Development));
    }

    #[test]
    fn names_and_keys_are_checked_before_anything_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let accounts = StorageAccounts::load_or_make(folder.path(), true).expect("accounts");
        for name in ["", "ab", "Orders", "my-orders", "orders-secondary", &"a".repeat(25)] {
            assert_eq!(accounts.add(name), Err(StorageAccountError::Name(name.to_owned())));
        }
        let keys = |key: &str| [key.to_owned(), DEVELOPMENT_KEY.to_owned()];
        assert_eq!(accounts.add_with("orders", keys("no base64!")), Err(StorageAccountError::Key));
        assert_eq!(accounts.add_with("orders", keys("")), Err(StorageAccountError::Key));
        assert!(accounts.list().len() == 1 && accounts.add_with("orders", keys("YQ==")).is_ok());
    }

    #[test]
    fn the_file_is_for_its_owner_alone_and_a_damaged_one_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE);
        StorageAccounts::load_or_make(folder.path(), true).expect("accounts").add("orders").expect("added");
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
        let whole = fs::read_to_string(&path).expect("text");
        for damage in [
            "",
            "{}",
            &whole[..whole.len() / 2],
            &whole.replace("orders", "My Orders"),
            &whole.replace("\"v\": 1", "\"v\": 2"),
        ] {
            fs::write(&path, damage).expect("written");
            assert!(StorageAccounts::load_or_make(folder.path(), true).is_err());
            assert_eq!(fs::read_to_string(&path).expect("text"), damage);
        }
    }

    #[test]
    fn keys_are_never_printed() {
        let folder = tempfile::tempdir().expect("a folder");
        let accounts = StorageAccounts::load_or_make(folder.path(), true).expect("accounts");
        assert_eq!(format!("{:?}", accounts.list()[0]), "StorageAccount { name: \"devstoreaccount1\", .. }");
    }
}
