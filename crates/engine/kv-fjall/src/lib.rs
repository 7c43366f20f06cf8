//! The embedded engine: the only crate that opens data files.
