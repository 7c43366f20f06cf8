//! What the crash harness and the benchmark talk to the server with.
//!
//! Small and cheap, because it shares the machine with the server it measures: a request is bytes that can be
//! built ahead of time, a reply borrows the connection's buffer, and one connection carries one request at a
//! time, as the SDKs' do. [`Client`] is the convenient layer over it; [`ServerProcess`] is a server on a
//! folder that can be stopped, killed and started again.
//!
//! Left out: TLS, HTTP/2, trailers, retries. A reply it does not understand is an error.

mod chunk;
mod client;
mod connection;
mod items;
mod queue_message;
mod reply;
mod request;
mod server;
mod sign;
mod storage;

pub use client::Client;
pub use connection::{ClientError, Connection};
pub use items::ContainerPath;
pub use queue_message::{QueueMessage, message_body, read_messages};
pub use reply::{OwnedReply, Reply};
pub use request::{Method, Request};
pub use server::{Durability, Options, Ports, ServerError, ServerProcess, dist_binary, newest_binary};
pub use sign::{EMULATOR_KEY, Signer};
pub use storage::{STORAGE_ACCOUNT, STORAGE_KEY, StorageRequest, StorageService};
