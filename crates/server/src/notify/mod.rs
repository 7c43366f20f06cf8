//! The notification service in this process, and the verbs that ask one.
//!
//! ```text
//! serve     settings (flags), start (policy, providers, store)
//! verbs     command (orrery notify …), sim (a day against a policy), fake_push
//! ```

mod command;
pub mod fake_push;
mod settings;
mod sim;
mod start;

pub use command::{NotifyFlags, notify};
pub use settings::{Credential, ServiceFlags, Settings, StoreAt, Table};
pub use start::{NotificationFiles, start};
