//! Configuration of the notification service: settings (flags), start (policy, providers, store).

mod settings;
mod start;

pub use settings::{Credential, ServiceConfig, ServiceSettings, StoreAt};
pub use start::{NotificationFiles, start};
