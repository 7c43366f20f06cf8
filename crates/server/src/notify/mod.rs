//! The notification service in this process: settings (flags), start (policy, providers, store).

mod settings;
mod start;

pub use settings::{Credential, ServiceConfig, ServiceSettings, StoreAt};
pub use start::{NotificationFiles, start};
