//! The service behind the port: every request in, exactly one response out.

use crate::call::Call;
use crate::errors::Failure;
use crate::handlers::{messages, queues, service};
use crate::operation::{Choice, Operation};
use http::{Method, Request, Response};
use hyper::body::Incoming;
use orrery_api_common::{Body, Peer, discard_body};
use orrery_api_storage::{CorsHeaders, Grant, Storage, StorageError, cors};
use orrery_catalog::storage::{AccessPolicy, QueueName, ServiceKind};
use orrery_queue_store::{Error, QueueId, QueueStore};

/// A cheap handle.
#[derive(Clone)]
pub struct Queue {
    storage: Storage,
    store: QueueStore,
}

impl Queue {
    pub fn new(storage: Storage, store: QueueStore) -> Self {
        Self { storage, store }
    }

    pub fn store(&self) -> &QueueStore {
        &self.store
    }

    pub async fn handle(&self, request: Request<Incoming>, peer: Peer) -> Response<Body> {
        let (head, body) = request.into_parts();
        let mut envelope = self.storage.begin(&head.headers);
        match self.storage.read(ServiceKind::Queue, head, peer, &mut envelope) {
            Ok(request) => self.respond(Call::new(request, body)).await,
            Err(error) => {
                let mut response = error.into_xml(&envelope);
                envelope.finish(response.headers_mut());
                discard_body(body).await;
                response
            }
        }
    }

    async fn respond(&self, mut call: Call) -> Response<Body> {
        let (outcome, cors) = match self.admit(&call) {
            Ok(Admitted::Preflight(response)) => (Ok(response), CorsHeaders::default()),
            Ok(Admitted::Request(cors)) => (self.answer(&mut call).await, cors),
            Err(failure) => (Err(failure), CorsHeaders::default()),
        };
        let envelope = &call.request.envelope;
        let mut response = outcome.unwrap_or_else(|Failure(error)| error.into_xml(envelope));
        envelope.finish(response.headers_mut());
        cors.finish(response.headers_mut());
        call.discard().await;
        response
    }

    /// What the CORS rules say to a browser, before anything else is done.
    fn admit(&self, call: &Call) -> Result<Admitted, Failure> {
        let properties = self.store.service_properties(&call.request.account)?;
        Ok(match *call.request.method() {
            Method::OPTIONS => Admitted::Preflight(cors::preflight(&call.request, &properties.cors)?),
            _ => Admitted::Request(cors::judge(&call.request, &properties.cors)?),
        })
    }

    async fn answer(&self, call: &mut Call) -> Result<Response<Body>, Failure> {
        let operation = operation_of(call)?;
        let grant = self.authorize(call, &operation).await?;
        match operation {
            Operation::ReadProperties => service::read_properties(&self.store, call),
            Operation::WriteProperties => service::write_properties(&self.store, call).await,
            Operation::ReadStatistics => service::read_statistics(call),
            Operation::IssueDelegationKey => service::issue_delegation_key(&self.storage, call, &grant).await,
            Operation::ListQueues => queues::list(&self.store, call),
            Operation::OnQueue { queue, does } => {
                let id = call.queue(&queue)?;
                queues::run(&self.store, call, &id, does).await
            }
            Operation::OnMessages { queue, does } => {
                let id = call.queue(&queue)?;
                messages::run(&self.store, call, &id, does).await
            }
            Operation::OnMessage { queue, id: message, does } => {
                let id = call.queue(&queue)?;
                messages::run_on_one(&self.store, call, &id, &message, does).await
            }
        }
    }

    async fn authorize(&self, call: &Call, operation: &Operation) -> Result<Grant, Failure> {
        let policy = |queue: &str, id: &str| self.policy(call, queue, id);
        let grant = self.storage.authorize(&call.request, &operation.need(), &policy).await?;
        call.request.peer.confirm();
        Ok(grant)
    }

    /// A stored access policy, if the queue has it.
    fn policy(&self, call: &Call, queue: &str, id: &str) -> Result<Option<AccessPolicy>, StorageError> {
        let Ok(name) = QueueName::parse(queue) else { return Ok(None) };
        let queue = QueueId { account: call.request.account.clone(), name };
        match self.store.queue(&queue) {
            Ok(queue) => Ok(queue.policies.get(id).cloned()),
            Err(Error::QueueNotFound) => Ok(None),
            Err(error) => Err(Failure::from(error).0),
        }
    }
}

/// A request that goes on, or the answer to a browser's question about one.
enum Admitted {
    Preflight(Response<Body>),
    Request(CorsHeaders),
}

fn operation_of(call: &Call) -> Result<Operation, Failure> {
    let request = &call.request;
    let choice = Choice {
        comp: request.query("comp").map(|comp| comp.to_ascii_lowercase()),
        restype: request.query("restype").map(|restype| restype.to_ascii_lowercase()),
        peek_only: request.query_is("peekonly", "true"),
    };
    let segments = request.segments()?;
    let mut segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
    // A slash at the end says nothing.
    if segments.last().is_some_and(|last| last.is_empty()) {
        segments.pop();
    }
    Ok(Operation::of(&segments, request.method(), &choice)?)
}
