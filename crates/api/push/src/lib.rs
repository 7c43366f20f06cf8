//! The provider side of pushes, for tests without a provider: FCM HTTP v1 with its token endpoint, and APNs.
//!
//! ```text
//! identity   the credentials that are taken, and the files that hold them
//! state      what was received, what shall be answered, what was counted
//! fcm        POST /token, POST /v1/projects/{project}/messages:send
//! apns       POST /3/device/{token}, over HTTP/2
//! control    the port on which a test says what shall fail and asks what came
//! ```
//!
//! They implement the protocols as documented, over TLS and HTTP/2, and refuse what the providers refuse. They listen
//! on this machine only: one of their keys is published in the source.

mod apns;
mod control;
mod fcm;
mod identity;
pub mod limits;
mod reply;
mod state;

pub use identity::{Identity, Written};
pub use state::{Answer, Counters, Match, Platform, Received, Rule, State};

use orrery_api_common::{Listener, Stop, load_or_make};
use orrery_core::Env;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

pub struct Options {
    /// 0 for any free one.
    pub fcm_port: u16,
    pub apns_port: u16,
    pub control_port: u16,
    /// The folder of the certificate.
    pub certificate_folder: PathBuf,
    /// The APNs key of an earlier start, as PEM; a new one if there is none.
    pub apns_key: Option<String>,
    /// The clock for the times in tokens; `None` if the caller's clock is moved by hand.
    pub clock: Option<Env>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Ports {
    pub fcm: u16,
    pub apns: u16,
    pub control: u16,
}

/// The stand-ins, bound and not yet served.
pub struct StandIns {
    fcm: Listener,
    apns: Listener,
    control: Listener,
    ports: Ports,
    shared: Arc<Shared>,
}

/// The shared state of the three ports.
pub(crate) struct Shared {
    identity: Identity,
    state: State,
    clock: Option<Env>,
}

impl StandIns {
    /// Must be called within a runtime. The error is a sentence.
    pub fn bind(options: Options) -> Result<Self, String> {
        let tls = load_or_make(&options.certificate_folder).map_err(|error| error.to_string())?;
        let bind = |name: &str, port: u16, tls| {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            Listener::bind(address, tls)
                .map_err(|error| format!("port {port} for {name} cannot be used: {error}"))
        };
        let fcm = bind("FCM", options.fcm_port, Some(tls.clone()))?;
        let apns = bind("APNs", options.apns_port, Some(tls))?;
        let control = bind("control", options.control_port, None)?;
        let port = |listener: &Listener| {
            listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
        };
        let ports = Ports { fcm: port(&fcm)?, apns: port(&apns)?, control: port(&control)? };
        let identity = Identity::new(&ports, options.apns_key.as_deref(), &options.certificate_folder)?;
        let shared = Arc::new(Shared { identity, state: State::default(), clock: options.clock });
        Ok(Self { fcm, apns, control, ports, shared })
    }

    pub fn ports(&self) -> Ports {
        self.ports
    }

    /// The files that a server needs to push to them.
    pub fn files(&self) -> Vec<Written> {
        self.shared.identity.files(&self.ports)
    }

    /// A handle to their recorded state.
    pub fn state(&self) -> State {
        self.shared.state.clone()
    }

    /// Serves until the stop.
    pub async fn run(self, stop: Stop) {
        let Self { fcm, apns, control, shared, .. } = self;
        let (for_fcm, for_apns, for_control) = (shared.clone(), shared.clone(), shared);
        let fcm = fcm.serve(
            move |request, peer| {
                let shared = for_fcm.clone();
                async move { fcm::answer(&shared, request, peer).await }
            },
            stop.clone(),
        );
        let apns = apns.serve(
            move |request, peer| {
                let shared = for_apns.clone();
                async move { apns::answer(&shared, request, peer).await }
            },
            stop.clone(),
        );
        let control = control.serve(
            move |request, _| {
                let shared = for_control.clone();
                async move { control::answer(&shared, request).await }
            },
            stop,
        );
        tokio::join!(fcm, apns, control);
    }
}
