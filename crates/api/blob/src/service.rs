//! The service behind the port: every request in, exactly one response out.

use crate::answer::Answer;
use crate::call::Call;
use crate::errors::Failure;
use crate::handlers::{account, blobs, containers};
use crate::header;
use crate::operation::{Choice, Operation};
use crate::parameters::{as_moment, moment};
use crate::source::Fetch;
use crate::website;
use http::header::ALLOW;
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use orrery_api_common::percent::decode_segment;
use orrery_api_common::{Peer, discard_body};
use orrery_api_storage::{CorsHeaders, Need, Rules, Storage, StorageError, StorageRequest, cors};
use orrery_blob_store::model::containers::PublicAccess;
use orrery_blob_store::model::{ContainerId, Refusal};
use orrery_blob_store::{BlobStore, Error};
use orrery_catalog::storage::{AccessPolicy, AccountName, BlobContainerName, ServiceKind};

/// A cheap handle.
#[derive(Clone)]
pub struct Blobs {
    pub(crate) storage: Storage,
    pub(crate) store: BlobStore,
    pub(crate) fetch: Fetch,
}

impl Blobs {
    /// `fetch` reads the sources of copies that are elsewhere.
    pub fn new(storage: Storage, store: BlobStore, fetch: Fetch) -> Self {
        Self { storage, store, fetch }
    }

    pub fn store(&self) -> &BlobStore {
        &self.store
    }

    pub async fn handle(&self, request: Request<Incoming>, peer: Peer) -> Response<Answer> {
        let (head, body) = request.into_parts();
        let mut envelope = self.storage.begin(&head.headers);
        match self.storage.read(ServiceKind::Blob, head, peer, &mut envelope) {
            Ok(request) => self.respond(Call::new(request, body)).await,
            Err(error) => {
                let mut response = error.into_xml(&envelope).map(Answer::from);
                envelope.finish(response.headers_mut());
                discard_body(body).await;
                response
            }
        }
    }

    /// Also the parts of a batch, which are requests of their own.
    pub(crate) async fn respond(&self, mut call: Call) -> Response<Answer> {
        let (outcome, cors) = match self.admit(&mut call) {
            Ok(Admitted::Preflight(response)) => (Ok(response), CorsHeaders::default()),
            Ok(Admitted::Request(cors)) => (self.answer(&mut call).await, cors),
            Err(failure) => (Err(failure), CorsHeaders::default()),
        };
        let envelope = &call.request.envelope;
        let mut response = outcome.unwrap_or_else(|failure| refusal(&call.request, failure));
        let is_read = matches!(*call.request.method(), Method::GET | Method::HEAD);
        if let Some(grant) = call.grant.as_ref().filter(|_| is_read && response.status().is_success()) {
            response.headers_mut().extend(grant.response_headers());
        }
        envelope.finish(response.headers_mut());
        cors.finish(response.headers_mut());
        call.discard().await;
        response
    }

    /// What the CORS rules say to a browser, before anything else is done.
    fn admit(&self, call: &mut Call) -> Result<Admitted, Failure> {
        let service = self.store.service(&call.request.account)?;
        call.request.default_version(service.properties.default_service_version.as_deref());
        let rules = &service.properties.cors;
        Ok(match *call.request.method() {
            Method::OPTIONS => Admitted::Preflight(cors::preflight(&call.request, rules)?.map(Answer::from)),
            _ => Admitted::Request(cors::judge(&call.request, rules)?),
        })
    }

    async fn answer(&self, call: &mut Call) -> Result<Response<Answer>, Failure> {
        if let Some(response) = website::answer(self, call).await? {
            return Ok(response);
        }
        let operation = operation_of(&call.request)?;
        self.authorize(call, &operation).await?;
        match operation {
            Operation::Account(does) => account::run(self, call, does).await,
            Operation::Container { container, does } => {
                let id = call.container(&container)?;
                containers::run(self, call, &id, does).await
            }
            Operation::Blob { container, name, does } => {
                let address = call.blob(&container, &name)?;
                blobs::run(self, call, &address, does).await
            }
        }
    }

    async fn authorize(&self, call: &mut Call, operation: &Operation) -> Result<(), Failure> {
        let moment = moment(&call.request);
        let need = operation.need(as_moment(moment.as_ref()));
        let rules = self.rules(&call.request.account, operation);
        let grant = self.storage.authorize(&call.request, &need, &rules).await?;
        if let Operation::Blob { does, .. } = operation {
            call.creates_only = does.may_create()
                && grant.permit(&Need { account: &["w"], service: &["w"], ..need }).is_err();
        }
        call.grant = Some(grant);
        Ok(())
    }

    pub(crate) fn rules<'a>(&'a self, account: &'a AccountName, operation: &'a Operation) -> BlobRules<'a> {
        BlobRules { store: &self.store, account, operation }
    }
}

/// What containers say of who may use them: their stored policies, and whether they are open to everybody.
pub(crate) struct BlobRules<'a> {
    store: &'a BlobStore,
    account: &'a AccountName,
    operation: &'a Operation,
}

impl Rules for BlobRules<'_> {
    fn policy(&self, container: &str, id: &str) -> Result<Option<AccessPolicy>, StorageError> {
        let Some(id_of) = container_id(self.account, container) else { return Ok(None) };
        match self.store.container(&id_of) {
            Ok(container) => Ok(container.policies.get(id).cloned()),
            Err(Error::Refused(Refusal::ContainerNotFound)) => Ok(None),
            Err(error) => Err(Failure::from(error).0),
        }
    }

    fn is_public(&self) -> Result<bool, StorageError> {
        let (container, opens) = match self.operation {
            Operation::Blob { container, does, .. } if does.is_public_read() => {
                (container, &[PublicAccess::Blob, PublicAccess::Container][..])
            }
            Operation::Container { container, does } if does.is_public_read() => {
                (container, &[PublicAccess::Container][..])
            }
            _ => return Ok(false),
        };
        let Some(id) = container_id(self.account, container) else { return Ok(false) };
        Ok(self.store.container(&id).is_ok_and(|container| opens.contains(&container.public_access)))
    }
}

fn container_id(account: &AccountName, name: &str) -> Option<ContainerId> {
    let name = BlobContainerName::parse(name).ok()?;
    Some(ContainerId { account: account.clone(), name })
}

/// A request that goes on, or the answer to a browser's question about one.
enum Admitted {
    Preflight(Response<Answer>),
    Request(CorsHeaders),
}

/// To somebody who asked whether it changed, nothing is said but that it did not.
fn refusal(request: &StorageRequest, Failure(error): Failure) -> Response<Answer> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_verb = error.code == "UnsupportedHttpVerb";
    if is_read && error.status == StatusCode::NOT_MODIFIED {
        let mut response = crate::reply::empty(StatusCode::NOT_MODIFIED);
        crate::reply::insert(&mut response, orrery_api_storage::header::ERROR_CODE, error.code);
        return response;
    }
    let range = error.details.iter().find(|(name, _)| *name == LENGTH).map(|(_, length)| length.clone());
    // A write is told that its condition was not met, whichever it was.
    let status =
        if error.status == StatusCode::NOT_MODIFIED { StatusCode::PRECONDITION_FAILED } else { error.status };
    let error = StorageError {
        status,
        details: error.details.into_iter().filter(|(name, _)| *name != LENGTH).collect(),
        ..error
    };
    let mut response = error.into_xml(&request.envelope).map(Answer::from);
    if let Some(length) = range {
        crate::reply::insert(&mut response, http::header::CONTENT_RANGE, &format!("bytes */{length}"));
    }
    if is_verb {
        crate::reply::insert(&mut response, ALLOW, "GET, HEAD, PUT, POST, DELETE, OPTIONS");
    }
    response
}

/// The detail of a refused range that becomes a header.
pub(crate) const LENGTH: &str = "BlobLength";

pub(crate) fn operation_of(request: &StorageRequest) -> Result<Operation, Failure> {
    let lower = |name: &str| request.query(name).map(|text| text.to_ascii_lowercase());
    let choice = Choice {
        comp: lower("comp").filter(|text| !text.is_empty()),
        restype: lower("restype"),
        has_source: request.header(header::COPY_SOURCE).is_some(),
        has_type: request.header(header::BLOB_TYPE).is_some(),
        requires_sync: crate::parameters::is_true(request, &header::REQUIRES_SYNC),
    };
    let decode = |text: &str| {
        decode_segment(text).map(|text| text.into_owned()).map_err(|_| StorageError::invalid_uri())
    };
    let (container, name) = match request.raw_path.split_once('/') {
        None => (decode(&request.raw_path)?, None),
        Some((container, name)) => (decode(container)?, Some(decode(name)?)),
    };
    Ok(Operation::of(&container, name.as_deref(), request.method(), &choice)?)
}
