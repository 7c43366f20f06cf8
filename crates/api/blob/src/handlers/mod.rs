//! The operations: each decodes what it was asked, calls the store once, and encodes what came of it.

pub mod account;
pub mod blobs;
pub mod changes;
pub mod containers;
pub mod copies;
pub mod leases;
pub mod lists;
pub mod read;
pub mod writes;
