//! The shared part of all protocols: the listener, the certificate, account keys, signatures, bodies, problems,
//! percent-encoding.
//!
//! A protocol gives [`Listener::serve`] a function from request to response and never sees sockets, TLS or HTTP
//! versions; it reads bodies with [`read_body`] and authenticates callers with [`Keys`]. Absent: resources and routes,
//! which belong to each protocol, as do the error bodies of Azure's. All of the services port answers errors with
//! [`problem`].

mod access_log;
mod authorization;
pub mod bearer;
mod body;
mod budget;
mod certificate;
mod connection;
mod connection_table;
mod cors;
mod header_spelling;
pub mod limits;
mod listener;
mod master_key;
mod patience;
pub mod percent;
pub mod problem;
mod repoll;
pub mod secrets;
mod stop;
mod web_guard;

pub use access_log::REQUESTS;
pub use authorization::{AuthError, Authorization, TokenKind, parse_authorization};
pub use body::{
    Answer, Body, BodyError, RequestBody, body, body_of_two, discard_body, read_body, read_body_held,
};
pub use budget::{BodyBudget, BodyHold};
pub use certificate::{CertificateError, load_or_make};
pub use connection::Peer;
pub use connection_table::ConnectionCounts;
pub use header_spelling::{spell_headers, spelled_headers};
pub use listener::{Listener, Options};
pub use master_key::{Access, Keys};
pub use orrery_protocol::{EMULATOR_KEY, InvalidKey, Key, Signature, string_to_sign};
pub use rustls::ServerConfig;
pub use stop::Stop;
pub use web_guard::{CorsRules, ForeignPage, WebGuard, is_forwarded, split as split_authority};
