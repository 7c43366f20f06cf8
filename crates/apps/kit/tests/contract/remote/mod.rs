//! What only a store over the wire can do.

mod gone;
mod lost;
mod splitting;
mod throttled;
