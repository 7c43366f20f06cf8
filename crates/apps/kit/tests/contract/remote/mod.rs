//! Cases that exist only over the wire.

mod gone;
mod lost;
mod splitting;
mod throttled;
