//! Secrets in the data folder: account keys and the development issuer's key.
//!
//! ```text
//! account_keys      keys.json: the account's four keys and the secret that continuation tokens are sealed with
//! development_key   development-key.json: the key pair of the development issuer
//! storage_accounts  storage-accounts.json: the storage accounts, with two keys each
//! private_file      how all of them are written: whole or not at all, for the owner alone
//! ```

mod account_keys;
mod development_key;
mod private_file;
mod storage_accounts;

pub use account_keys::AccountKeys;
pub use development_key::load_or_make as development_key;
pub use private_file::replace as replace_private_file;
pub use storage_accounts::{StorageAccount, StorageAccountError, StorageAccounts, StorageKeyName};
