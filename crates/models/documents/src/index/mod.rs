//! Indexes over items: what of an item is indexed, under which keys, and keeping it so.
//!
//! ```text
//! policy ─ rules ─> what is indexed ─ terms ─> of one item ─ write ─> entries in its own transaction
//! ```
