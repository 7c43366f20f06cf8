//! What keeps a measurement from being made.

use orrery_testing_client::{ClientError, ServerError};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("PostgreSQL: {0}")]
    Postgres(#[from] tokio_postgres::Error),
    #[error("the engine: {0}")]
    Engine(#[from] orrery_kv::Error),
    #[error("the engine's folder: {0}")]
    Folder(#[from] orrery_kv_fjall::FolderError),
    #[error(transparent)]
    Seed(#[from] orrery_core::OsSeed),
    #[error("{0}: {1}")]
    Io(&'static str, std::io::Error),
    /// A subject that is not on this machine; the text says how to get it.
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Unexpected(String),
}
