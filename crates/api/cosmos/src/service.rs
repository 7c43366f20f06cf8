//! The service behind the port: every request in, exactly one response out.

use crate::authorize::{self, Access, Operation, authorize};
use crate::consistency::{self, Consistency};
use crate::failure::{Failure, SESSION_NOT_AVAILABLE};
use crate::reply::Reply;
use crate::request::Request;
use crate::route::{Located, OwnerPath, Route, locate};
use crate::{front_page, handlers, header};
use http::{HeaderValue, Method, Response, StatusCode};
use hyper::body::Incoming;
use orrery_api_common::{Body, Keys, Peer, discard_body};
use orrery_document_store::monitor::{Answered, Kind, SessionRead};
use orrery_document_store::{CrossPartition, Store};
use orrery_documents::catalog::Container;
use orrery_documents::subresources;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where the same process answers beside the Cosmos DB endpoint; `GET /` tells it to our own tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct OtherPorts {
    pub services: Option<u16>,
    pub queue: Option<u16>,
    pub table: Option<u16>,
}

pub struct Options {
    pub keys: Keys,
    /// The account's name, as clients see it.
    pub account: String,
    /// Tells this account from any other; our own tools compare it.
    pub account_id: String,
    /// The other ports of the same process.
    pub ports: OtherPorts,
    /// A secret of this data folder, for resource tokens.
    pub secret: [u8; 32],
    /// The strongest level that a request may ask for.
    pub consistency: Consistency,
    /// `host:port` that clients are told to go on at; None for the one that each of them dialled.
    pub advertised: Option<String>,
    /// Who merges the rows of several ranges.
    pub cross_partition: CrossPartition,
}

/// A cheap handle.
#[derive(Clone)]
pub struct Cosmos(Arc<Inner>);

struct Inner {
    store: Store,
    access: Access,
    account: String,
    account_id: String,
    ports: OtherPorts,
    consistency: Consistency,
    cross_partition: CrossPartition,
    advertised: Option<String>,
}

impl Cosmos {
    pub fn new(store: Store, options: Options) -> Self {
        let Options { keys, account, account_id, ports, secret, consistency, advertised, cross_partition } =
            options;
        let access = Access::new(keys, &secret);
        Self(Arc::new(Inner {
            store,
            access,
            account,
            account_id,
            ports,
            consistency,
            cross_partition,
            advertised,
        }))
    }

    pub fn store(&self) -> &Store {
        &self.0.store
    }

    pub fn account(&self) -> &str {
        &self.0.account
    }

    /// Tells this account from any other.
    pub fn account_id(&self) -> &str {
        &self.0.account_id
    }

    /// `host:port` that clients are told to go on at, if it is configured.
    pub(crate) fn advertised(&self) -> Option<&str> {
        self.0.advertised.as_deref()
    }

    /// Where this process answers beside this endpoint.
    pub(crate) fn ports(&self) -> OtherPorts {
        self.0.ports
    }

    /// Who merges the rows of several ranges, unless a request says otherwise.
    pub(crate) fn cross_partition(&self) -> CrossPartition {
        self.0.cross_partition
    }

    /// The account's level.
    pub(crate) fn consistency(&self) -> Consistency {
        self.0.consistency
    }

    /// Keys, tokens and roles: who may do what.
    pub fn access(&self) -> &Access {
        &self.0.access
    }

    pub async fn handle(&self, request: http::Request<Incoming>, peer: Peer) -> Response<Body> {
        orrery_core::tour_step!();
        let mut request = Request::new(request, peer);
        if front_page::is_wanted(&request) {
            return front_page::answer(self.ports().services);
        }
        let (activity_id, started) = (self.activity_id(&request), Instant::now());
        let outcome = self.answer(&mut request).await;
        let took = started.elapsed();
        self.record(&request, &outcome, took);
        if let Some(body) = request.unread_body() {
            discard_body(body).await;
        }
        match outcome {
            Ok(reply) => reply.finish(&activity_id, took),
            Err(failure) => {
                tracing::debug!(
                    status = failure.status.as_u16(),
                    activity_id,
                    message = failure.message,
                    "refused"
                );
                Reply::failed(&failure, &activity_id).finish(&activity_id, took)
            }
        }
    }

    /// Every reply and every refusal is counted here once.
    fn record(&self, request: &Request, outcome: &Result<Reply, Failure>, elapsed: Duration) {
        let (status, charge) = match outcome {
            Ok(reply) => (reply.status(), reply.charge()),
            Err(failure) => (failure.status, failure.charge()),
        };
        let has_token = request.header(&header::SESSION_TOKEN).is_some();
        let is_missed = |failure: &Failure| {
            failure.status == StatusCode::NOT_FOUND && failure.substatus == SESSION_NOT_AVAILABLE
        };
        let session = match outcome.as_ref().is_err_and(is_missed) {
            true => SessionRead::Missed,
            false => SessionRead::Served,
        };
        self.0.store.monitor().record(&Answered {
            kind: request.operation.map_or(Kind::Refused, Operation::measured_as),
            container: request.container,
            partition_key: request.header(&header::PARTITION_KEY),
            status: status.as_u16(),
            charge,
            elapsed,
            session: has_token.then_some(session),
        });
    }

    fn activity_id(&self, request: &Request) -> String {
        let echoed = request.header(&header::ACTIVITY_ID).filter(|id| !id.is_empty() && id.len() <= 64);
        let made_up = || self.0.store.env().guid();
        echoed.map_or_else(made_up, str::to_owned)
    }

    async fn answer(&self, request: &mut Request) -> Result<Reply, Failure> {
        let uri = request.head.uri.clone();
        let located = locate(&uri)?;
        self.name_only_partition(request, &located.route);
        request.operation = Some(authorize(self, request, &located).await?);
        request.peer.confirm();
        if !matches!(located.route, Route::Items { .. } | Route::Item { .. }) {
            request.container = container_of(self, &located.route);
        }
        // Operations on items are metered by the store. A body is not read while the throughput is spent.
        if let Some((database, container)) = items_of(request, &located.route) {
            self.check_throughput(request, database, container)
                .inspect_err(|_| request.container = container_of(self, &located.route))?;
            return self.dispatch(request, located).await;
        }
        if located.route == Route::Account {
            return self.dispatch(request, located).await;
        }
        let charge =
            |outcome: &Result<Reply, Failure>| outcome.as_ref().map_or_else(Failure::charge, Reply::charge);
        self.0.store.metered_metadata(self.dispatch(request, located), charge).await
    }

    fn check_throughput(&self, request: &Request, database: &str, container: &str) -> Result<(), Failure> {
        if !self.0.store.is_throttling() {
            return Ok(());
        }
        // If the container is not there, or a header is wrong, the handler says so.
        let Ok(container) = handlers::find_container(self, request, database, container) else {
            return Ok(());
        };
        let scope = handlers::item_feed::scope(request, &container).ok();
        Ok(self.0.store.check_throughput(&container, scope.as_ref(), request.priority())?)
    }

    /// Clients from before partition keys name none; a container that was created without has one partition, the one of the
    /// missing key.
    fn name_only_partition(&self, request: &mut Request, route: &Route<'_>) {
        if !request.is_before_partition_keys() || request.head.headers.contains_key(header::PARTITION_KEY) {
            return;
        }
        let (Some(database), Some(container)) = authorize::named(route) else { return };
        let found = handlers::container(self, database, container);
        if found.is_ok_and(|container| container.definition().partition_key().system_key()) {
            request.head.headers.insert(header::PARTITION_KEY, HeaderValue::from_static("[]"));
        }
    }

    /// A request about items.
    async fn on_items(
        &self,
        request: &mut Request,
        database: &str,
        named: &str,
        id: Option<&str>,
    ) -> Result<Reply, Failure> {
        request.arrive().await?;
        let container = handlers::find_container(self, request, database, named)?;
        request.container = Some(container.number());
        consistency::check(self, request, &container).await?;
        match id {
            None => self.on_feed(request, &container).await,
            Some(id) => self.on_item(request, &container, named, id).await,
        }
    }

    async fn on_feed(&self, request: &mut Request, container: &Arc<Container>) -> Result<Reply, Failure> {
        match *request.method() {
            Method::GET => handlers::item_feed::list(self, request, container).await,
            Method::POST => handlers::items::post(self, request, container).await,
            _ => Err(Failure::method_not_allowed()),
        }
    }

    async fn on_item(
        &self,
        request: &mut Request,
        container: &Arc<Container>,
        named: &str,
        id: &str,
    ) -> Result<Reply, Failure> {
        let id = handlers::by_rid::item_id(self, request, container, named, id.to_owned()).await?;
        match *request.method() {
            Method::GET => handlers::items::read(self, request, container, &id).await,
            Method::PUT => handlers::items::replace(self, request, container, &id).await,
            Method::DELETE => handlers::items::delete(self, request, container, &id).await,
            Method::PATCH => handlers::items::patch(self, request, container, &id).await,
            _ => Err(Failure::method_not_allowed()),
        }
    }

    async fn dispatch(&self, request: &mut Request, located: Located<'_>) -> Result<Reply, Failure> {
        let method = request.method().clone();
        match (located.route, method) {
            (Route::Account, Method::GET) => Ok(handlers::account::read(self, request)),
            (Route::Databases, Method::GET) => handlers::databases::list(self, request),
            (Route::Databases, Method::POST) => handlers::databases::post(self, request).await,
            (Route::Database { database }, Method::GET) => {
                handlers::databases::read(self, request, &database)
            }
            (Route::Database { database }, Method::DELETE) => {
                handlers::databases::delete(self, request, &database).await
            }
            (Route::Containers { database }, Method::GET) => {
                handlers::containers::list(self, request, &database)
            }
            (Route::Containers { database }, Method::POST) => {
                handlers::containers::post(self, request, &database).await
            }
            (Route::Container { database, container }, method) => match method {
                Method::GET => handlers::containers::read(self, request, &database, &container).await,
                Method::PUT => handlers::containers::replace(self, request, &database, &container).await,
                Method::DELETE => handlers::containers::delete(self, request, &database, &container).await,
                _ => Err(Failure::method_not_allowed()),
            },
            (Route::Items { database, container }, _) => {
                self.on_items(request, &database, &container, None).await
            }
            (Route::Item { database, container, id }, _) => {
                self.on_items(request, &database, &container, Some(&id)).await
            }
            (Route::PartitionKeyDelete { database, container }, Method::POST) => {
                request.arrive().await?;
                let container = handlers::find_container(self, request, &database, &container)?;
                handlers::partition_delete::run(self, request, container).await
            }
            (Route::Ranges { database, container }, Method::GET) => {
                let container = handlers::find_container(self, request, &database, &container)?;
                handlers::ranges::list(request, &container)
            }
            (Route::Offers, Method::GET) => handlers::offers::list(self),
            (Route::Offers, Method::POST) => handlers::offers::query(self, request).await,
            (Route::Offer { rid }, Method::GET) => handlers::offers::read(self, &rid),
            (Route::Offer { rid }, Method::PUT) => handlers::offers::replace(self, request, &rid).await,
            (Route::Subresources { owner, kind }, method) => {
                handlers::subresources::on_feed(self, request, &method, &owner, kind).await
            }
            (Route::Subresource { owner, kind, id }, method) => {
                handlers::subresources::on_subresource(self, request, &method, &owner, kind, &id).await
            }
            (Route::Conflicts { database, container }, method) => {
                handlers::conflicts::on_feed(self, request, &method, &database, &container).await
            }
            (Route::Conflict { database, container, id }, method) => {
                handlers::conflicts::on_conflict(self, request, &method, &database, &container, &id)
            }
            (Route::Other { kind }, _) => Err(Failure::not_implemented(&format!("the resource '{kind}'"))),
            _ => Err(Failure::method_not_allowed()),
        }
    }
}

/// The database and the container whose items a request reads or writes; none if it is about something else.
fn items_of<'r>(request: &Request, route: &'r Route<'_>) -> Option<(&'r str, &'r str)> {
    match route {
        Route::Items { database, container }
        | Route::Item { database, container, .. }
        | Route::PartitionKeyDelete { database, container } => Some((database, container)),
        // A stored procedure is run by a POST, and works on items.
        Route::Subresource {
            owner: OwnerPath::Container { database, container },
            kind: subresources::Kind::StoredProcedure,
            ..
        } if *request.method() == Method::POST => Some((database, container)),
        _ => None,
    }
}

/// The container that a path names, if it is there.
fn container_of(cosmos: &Cosmos, route: &Route<'_>) -> Option<u32> {
    let (database, container) = match route {
        Route::Items { database, container }
        | Route::Item { database, container, .. }
        | Route::Container { database, container }
        | Route::Ranges { database, container }
        | Route::Conflicts { database, container }
        | Route::Conflict { database, container, .. }
        | Route::Subresources { owner: OwnerPath::Container { database, container }, .. }
        | Route::Subresource { owner: OwnerPath::Container { database, container }, .. } => {
            (database, container)
        }
        _ => return None,
    };
    handlers::container(cosmos, database, container).ok().map(|container| container.number())
}
