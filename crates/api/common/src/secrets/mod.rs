//! What the data folder keeps beside the data and nobody else may read: the account's keys and the development issuer's.
//!
//! ```text
//! account_keys      keys.json: the account's four keys and the secret that continuation tokens are sealed with
//! development_key   development-key.json: the key pair of the development issuer
//! private_file      how both are written: whole or not at all, for the owner alone
//! ```

mod account_keys;
mod development_key;
mod private_file;

pub use account_keys::AccountKeys;
pub use development_key::load_or_make as development_key;
pub use private_file::replace as replace_private_file;
