//! The notification service in this process, and the verbs that ask one.
//!
//! ```text
//! serve     settings (flags), start (store, providers, REST), dispatching (beside the ports), measures (/metrics)
//! verbs     command (orrery notify …), sim (a day against a policy), fake_push; doctor (orrery doctor)
//! ```

mod command;
mod dispatching;
mod doctor;
pub mod fake_push;
mod measures;
mod settings;
mod sim;
mod start;

pub use command::{NotifyFlags, notify};
pub use doctor::{DoctorFlags, doctor};
pub use settings::{ServiceFlags, Settings, Table};
pub use start::{Beside, Notify, start};
