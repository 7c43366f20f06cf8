//! Who may use a server: `orrery keys` and `orrery role`.

mod keys;
mod role;

pub use keys::{KeysFlags, keys};
pub use role::{RoleFlags, role};
