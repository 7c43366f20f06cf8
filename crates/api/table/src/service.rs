//! The service behind the port: every request in, exactly one response out.

use crate::call::Call;
use crate::errors::Failure;
use crate::handlers::{access_policies, batch, entities, query, service, tables};
use crate::operation::{self, Component, OnEntities, Operation};
use crate::reply::Reply;
use crate::route::locate;
use http::header::IF_MATCH;
use http::{Method, Request, Response};
use hyper::body::Incoming;
use orrery_api_common::{Body, Peer, discard_body};
use orrery_api_storage::{CorsHeaders, Grant, Need, Storage, StorageError, cors};
use orrery_catalog::storage::{AccessPolicy, AccountName, ServiceKind, TableName};
use orrery_table_store::{Error, TableStore};
use std::borrow::Cow;

/// A cheap handle.
#[derive(Clone)]
pub struct Table {
    storage: Storage,
    store: TableStore,
}

impl Table {
    pub fn new(storage: Storage, store: TableStore) -> Self {
        Self { storage, store }
    }

    pub fn store(&self) -> &TableStore {
        &self.store
    }

    pub async fn handle(&self, request: Request<Incoming>, peer: Peer) -> Response<Body> {
        let (head, body) = request.into_parts();
        let mut envelope = self.storage.begin(&head.headers);
        match self.storage.read(ServiceKind::Table, head, peer, &mut envelope) {
            Ok(request) => self.respond(Call::new(request, body)).await,
            Err(error) => {
                let mut response = Failure(error).into_response(&envelope);
                envelope.finish(response.headers_mut());
                discard_body(body).await;
                response
            }
        }
    }

    async fn respond(&self, mut call: Call) -> Response<Body> {
        let (mut response, cors) = match self.admit(&call) {
            Ok(Admitted::Preflight(response)) => (response, CorsHeaders::default()),
            Ok(Admitted::Request(cors)) => (self.finished(&mut call).await, cors),
            Err(failure) => (failure.into_response(&call.request.envelope), CorsHeaders::default()),
        };
        call.request.envelope.finish(response.headers_mut());
        cors.finish(response.headers_mut());
        call.discard().await;
        response
    }

    /// What the CORS rules say to a browser, before anything else is done.
    fn admit(&self, call: &Call) -> Result<Admitted, Failure> {
        let properties = self.store.service_properties(call.account())?;
        Ok(match *call.request.method() {
            Method::OPTIONS => Admitted::Preflight(cors::preflight(&call.request, &properties.cors)?),
            _ => Admitted::Request(cors::judge(&call.request, &properties.cors)?),
        })
    }

    async fn finished(&self, call: &mut Call) -> Response<Body> {
        match self.answer(call).await {
            Ok(reply) => reply.finish(),
            Err(failure) => failure.into_response(&call.request.envelope),
        }
    }

    async fn answer(&self, call: &mut Call) -> Result<Reply, Failure> {
        let component = Component {
            is_service: call.request.query_is("restype", "service"),
            comp: call.request.query("comp").map(|comp| comp.to_ascii_lowercase()),
        };
        let has_if_match = call.header(IF_MATCH.as_str()).is_some();
        let resource = locate(&call.request.raw_path)?;
        let operation = Operation::of(resource, call.verb()?, &component, has_if_match)?;
        if operation == Operation::Batch {
            return self.batch(call).await;
        }
        let grant = self.authorize(call, &operation.need()).await?;
        self.dispatch(call, operation, &grant).await
    }

    async fn dispatch(&self, call: &mut Call, operation: Operation, grant: &Grant) -> Result<Reply, Failure> {
        let store = &self.store;
        match operation {
            Operation::ReadProperties => service::read_properties(store, call),
            Operation::WriteProperties => service::write_properties(store, call).await,
            Operation::ReadStatistics => service::read_statistics(call),
            Operation::ListTables => tables::list(store, call),
            Operation::CreateTable => tables::create(store, call).await,
            Operation::ReadTable { table } => tables::read(store, call, &table),
            Operation::DeleteTable { table } => tables::delete(store, call, &table).await,
            Operation::ReadPolicies { table } => access_policies::read(store, call, &table),
            Operation::WritePolicies { table } => access_policies::write(store, call, &table).await,
            Operation::Batch => self.batch(call).await,
            Operation::OnEntities(asked) => self.on_entities(call, &asked, grant).await,
        }
    }

    async fn on_entities(
        &self,
        call: &mut Call,
        asked: &OnEntities,
        grant: &Grant,
    ) -> Result<Reply, Failure> {
        let (store, head) = (&self.store, call.head()?);
        match asked {
            OnEntities::Query { table } => {
                query::run(store, call, &head, table, call.options()?, grant).await
            }
            OnEntities::Read(place) => entities::read(store, call, &head, place, grant),
            OnEntities::Insert { .. } | OnEntities::Write(..) | OnEntities::Delete(_) => {
                entities::write(store, call, &head, asked, grant).await
            }
        }
    }

    /// Only the outer request is authenticated; what each operation needs is judged when it is read. A role may be for one
    /// table alone, and which table a batch is about stands inside it.
    async fn batch(&self, call: &mut Call) -> Result<Reply, Failure> {
        let signed_for = call.request.query("tn").map(Cow::into_owned);
        let outer = match self.authorize(call, &operation::batch(signed_for.as_deref())).await {
            Err(refusal) if !is_about_roles(&refusal) => return Err(refusal),
            outer => outer,
        };
        let arrived = batch::arrive(call).await?;
        let read = arrived.read()?;
        let grant = match outer {
            Ok(grant) => grant,
            Err(refusal) => {
                let table = batch::first_table(&read).ok_or(refusal)?;
                self.authorize(call, &operation::batch(Some(&table))).await?
            }
        };
        batch::run(&self.store, call, &grant, &read).await
    }

    async fn authorize(&self, call: &Call, need: &Need<'_>) -> Result<Grant, Failure> {
        let policy = |table: &str, id: &str| self.policy(call.account(), table, id);
        Ok(self.storage.authorize(&call.request, need, &policy).await?)
    }

    /// A stored access policy, if the table has it.
    fn policy(
        &self,
        account: &AccountName,
        table: &str,
        id: &str,
    ) -> Result<Option<AccessPolicy>, StorageError> {
        let Ok(name) = TableName::parse(table) else { return Ok(None) };
        match self.store.table(account, &name) {
            Ok(table) => Ok(table.access_policies.get(id).cloned()),
            Err(Error::TableNotFound) => Ok(None),
            Err(error) => Err(Failure::from(error).0),
        }
    }
}

/// A request that goes on, or the answer to a browser's question about one.
enum Admitted {
    Preflight(Response<Body>),
    Request(CorsHeaders),
}

/// Whoever asks is known, and may not do it to the whole account.
fn is_about_roles(failure: &Failure) -> bool {
    failure.0.code == "AuthorizationPermissionMismatch"
}
