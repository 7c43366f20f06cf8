//! The account's keys and the folder's secret: made at first start, kept in the data folder, replaced one at a time.
//!
//! On loopback the published emulator key is valid beside the folder's own, as code and tests expect; on other
//! addresses only the folder's own keys are.

use super::private_file::{self, damaged};
use crate::{EMULATOR_KEY, Key, Keys};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orrery_core::Env;
use orrery_protocol::KeyKind;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const VERSION: u32 = 1;
/// The text whose MAC under the folder's secret is the account's id.
const ACCOUNT_ID: &str = "the id of an Orrery account";

#[derive(Clone, Serialize, Deserialize)]
struct Record {
    v: u32,
    primary: String,
    secondary: String,
    primary_readonly: String,
    secondary_readonly: String,
    token_secret: String,
}

impl Record {
    fn key(&self, kind: KeyKind) -> &str {
        match kind {
            KeyKind::Primary => &self.primary,
            KeyKind::Secondary => &self.secondary,
            KeyKind::PrimaryReadonly => &self.primary_readonly,
            KeyKind::SecondaryReadonly => &self.secondary_readonly,
        }
    }

    fn key_mut(&mut self, kind: KeyKind) -> &mut String {
        match kind {
            KeyKind::Primary => &mut self.primary,
            KeyKind::Secondary => &mut self.secondary,
            KeyKind::PrimaryReadonly => &mut self.primary_readonly,
            KeyKind::SecondaryReadonly => &mut self.secondary_readonly,
        }
    }
}

pub struct AccountKeys {
    path: PathBuf,
    record: Mutex<Record>,
    takes_published: bool,
    pub token_secret: [u8; 32],
    /// Whether this start created them.
    pub are_new: bool,
}

impl AccountKeys {
    /// Loads those of a data folder. `takes_published`: whether the emulator's key is valid beside its own.
    pub fn load_or_make(folder: &Path, takes_published: bool) -> Result<Self, String> {
        let path = folder.join("keys.json");
        let (record, are_new) = match fs::read(&path) {
            Ok(bytes) => (private_file::read_record(&path, &bytes, VERSION)?, false),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (make(&path)?, true),
            Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
        };
        let secret = STANDARD.decode(&record.token_secret).ok().and_then(|bytes| bytes.try_into().ok());
        let token_secret = secret.ok_or_else(|| damaged(&path, "the token secret is not 32 bytes"))?;
        let keys = Self { path, record: Mutex::new(record), takes_published, token_secret, are_new };
        keys.keys()?;
        Ok(keys)
    }

    /// The current keys.
    pub fn keys(&self) -> Result<Keys, String> {
        self.opening(&self.record())
    }

    /// Identifies this folder's account. Derived from the folder's secret without revealing it.
    pub fn account_id(&self) -> Result<String, String> {
        let secret = Key::from_bytes(&self.token_secret).map_err(|error| error.to_string())?;
        let bytes = STANDARD.decode(secret.sign(ACCOUNT_ID)).map_err(|error| error.to_string())?;
        let hex: String = bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
    }

    /// The key to show to users.
    pub fn shown(&self) -> String {
        if self.takes_published { EMULATOR_KEY.to_owned() } else { self.text(KeyKind::Primary) }
    }

    pub fn text(&self, kind: KeyKind) -> String {
        self.record().key(kind).to_owned()
    }

    /// Replaces one key; the others stay. The new key is durable before it is accepted. Replacements are serialised, so
    /// that the later of two wins.
    pub fn regenerate(&self, kind: KeyKind, open: impl FnOnce(Keys)) -> Result<(), String> {
        let mut record = self.record();
        let mut next = record.clone();
        *next.key_mut(kind) = new_key()?;
        let keys = self.opening(&next)?;
        write(&self.path, &next)?;
        *record = next;
        open(keys);
        Ok(())
    }

    fn opening(&self, record: &Record) -> Result<Keys, String> {
        let key = |text: &str| Key::parse(text).map_err(|error| damaged(&self.path, &error.to_string()));
        Ok(Keys {
            primary: key(&record.primary)?,
            secondary: key(&record.secondary)?,
            primary_readonly: Some(key(&record.primary_readonly)?),
            secondary_readonly: Some(key(&record.secondary_readonly)?),
            published: if self.takes_published { Some(key(EMULATOR_KEY)?) } else { None },
        })
    }

    fn record(&self) -> std::sync::MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make(path: &Path) -> Result<Record, String> {
    let record = Record {
        v: VERSION,
        primary: new_key()?,
        secondary: new_key()?,
        primary_readonly: new_key()?,
        secondary_readonly: new_key()?,
        token_secret: STANDARD.encode(Env::secret::<32>().map_err(|error| error.to_string())?),
    };
    write(path, &record)?;
    Ok(record)
}

fn new_key() -> Result<String, String> {
    Env::secret::<64>().map(|bytes| STANDARD.encode(bytes)).map_err(|error| error.to_string())
}

fn write(path: &Path, record: &Record) -> Result<(), String> {
    let text = serde_json::to_vec_pretty(record).map_err(|error| error.to_string())?;
    private_file::replace(path, &text)
        .map_err(|error| format!("{} cannot be written: {error}", path.display()))
}
