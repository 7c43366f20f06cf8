//! The service behind the port: every request in, exactly one response out.

use crate::authorize::{self, Access, authorize};
use crate::consistency::{self, Consistency};
use crate::continuation::Tokens;
use crate::failure::{Failure, OWNER_MISSING};
use crate::monitor::{self, Monitor};
use crate::query::again::Again;
use crate::query::cross_partition::CrossPartition;
use crate::reply::Reply;
use crate::request::Request;
use crate::route::{Located, Route, locate};
use crate::script::slots::Slots;
use crate::throttle::{Throttle, Throttling};
use crate::usage::Usage;
use crate::{front_page, handlers, header};
use http::{HeaderValue, Method, Response};
use hyper::body::Incoming;
use orrery_api_common::{Body, Keys, Peer, discard_body};
use orrery_core::limits;
use orrery_document_store::Store;
use orrery_documents::Stamp;
use orrery_documents::catalog::Container;
use orrery_script::Scripts;
use std::sync::Arc;
use std::time::Instant;

pub struct Options {
    pub keys: Keys,
    /// The account's name, as clients see it.
    pub account: String,
    /// Tells this account from any other; our own tools compare it.
    pub account_id: String,
    /// The port of the same process on which its services answer, if it has one.
    pub services_port: Option<u16>,
    /// A secret of this data folder, for continuation tokens.
    pub secret: [u8; 32],
    /// What one logical partition may hold.
    pub partition_bytes_max: u64,
    /// The strongest level that a request may ask for.
    pub consistency: Consistency,
    pub throttling: Throttling,
    /// `host:port` that clients are told to go on at; None for the one that each of them dialled.
    pub advertised: Option<String>,
    /// Runs stored procedures, triggers and user-defined functions.
    pub scripts: Scripts,
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
    services_port: Option<u16>,
    tokens: Tokens,
    partition_bytes_max: u64,
    consistency: Consistency,
    throttle: Throttle,
    cross_partition: CrossPartition,
    scripts: Scripts,
    script_slots: Slots,
    usage: Usage,
    monitor: Monitor,
    again: Again,
    advertised: Option<String>,
}

impl Cosmos {
    pub fn new(store: Store, options: Options) -> Self {
        let tokens = Tokens::new(&options.secret);
        let Options {
            keys,
            account,
            account_id,
            services_port,
            secret,
            partition_bytes_max,
            consistency,
            throttling,
            advertised,
            scripts,
            cross_partition,
        } = options;
        let access = Access::new(keys, &secret);
        let now = store.env().now();
        let (usage, throttle) = (Usage::new(now), Throttle::new(&throttling, now.millis()));
        Self(Arc::new(Inner {
            store,
            access,
            account,
            account_id,
            services_port,
            tokens,
            partition_bytes_max,
            consistency,
            throttle,
            cross_partition,
            scripts,
            script_slots: Slots::default(),
            usage,
            monitor: Monitor::new(now),
            again: Again::default(),
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

    /// The port on which the services of this process answer.
    pub(crate) fn services_port(&self) -> Option<u16> {
        self.0.services_port
    }

    pub(crate) fn scripts(&self) -> &Scripts {
        &self.0.scripts
    }

    /// A script takes one of these while it runs.
    pub(crate) fn script_slots(&self) -> &Slots {
        &self.0.script_slots
    }

    /// How containers are used.
    pub(crate) fn usage(&self) -> &Usage {
        &self.0.usage
    }

    /// Queries that came before.
    pub(crate) fn again(&self) -> &Again {
        &self.0.again
    }

    /// What requests came to.
    pub fn monitor(&self) -> &Monitor {
        &self.0.monitor
    }

    /// What one logical partition may hold.
    pub(crate) fn partition_bytes_max(&self) -> u64 {
        self.0.partition_bytes_max
    }

    /// What may be spent, and what was.
    pub(crate) fn throttle(&self) -> &Throttle {
        &self.0.throttle
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

    pub(crate) fn tokens(&self) -> &Tokens {
        &self.0.tokens
    }

    /// The moment and the tag of a new version.
    pub(crate) fn stamp(&self) -> Stamp {
        let env = self.0.store.env();
        let etag = orrery_core::ETag::from_u128(env.random_u128());
        Stamp { now: env.now(), etag, partition_bytes_max: self.0.partition_bytes_max }
    }

    pub async fn handle(&self, request: http::Request<Incoming>, peer: Peer) -> Response<Body> {
        let mut request = Request::new(request, peer);
        if front_page::is_wanted(&request) {
            return front_page::answer(self.services_port());
        }
        let (activity_id, started) = (self.activity_id(&request), Instant::now());
        let outcome = self.answer(&mut request).await;
        let took = started.elapsed();
        self.0.monitor.note(&request, &outcome, took);
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
        // Every reply and every refusal passes here with its charge.
        let admitted = self.0.throttle.admit(self, request, &located.route);
        let is_on_items = matches!(located.route, Route::Items { .. } | Route::Item { .. });
        if admitted.is_err() || !is_on_items {
            request.container = monitor::container_of(self, &located.route);
        }
        let ticket = admitted?;
        let outcome = self.dispatch(request, located).await;
        self.0.throttle.settle(self, &ticket, &outcome);
        outcome
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

    /// A request about items. One that was decided while the container came to be indexed in another way is decided
    /// again.
    async fn on_items(
        &self,
        request: &mut Request,
        database: &str,
        named: &str,
        id: Option<&str>,
    ) -> Result<Reply, Failure> {
        request.arrive().await?;
        let mut tries = 0;
        loop {
            let container = handlers::find_container(self, request, database, named)?;
            request.container = Some(container.number());
            consistency::check(self, request, &container).await?;
            let answer = match id {
                None => self.on_feed(request, &container).await,
                Some(id) => self.on_item(request, &container, named, id).await,
            };
            tries += 1;
            let is_refused = answer.as_ref().is_err_and(|failure| failure.substatus == OWNER_MISSING);
            if !is_refused || tries == limits::TRANSACTION_RETRIES_MAX || !self.is_still_there(&container)? {
                return answer;
            }
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
            Method::GET => handlers::items::read(self, request, container, &id),
            Method::PUT => handlers::items::replace(self, request, container, &id).await,
            Method::DELETE => handlers::items::delete(self, request, container, &id).await,
            Method::PATCH => handlers::patch::patch(self, request, container, &id).await,
            _ => Err(Failure::method_not_allowed()),
        }
    }

    /// Whether the container of a write that was refused because of it is still there. Then it came to be indexed in another
    /// way or to have another schema meanwhile, or had so for a moment, and the write is decided again.
    pub(crate) fn is_still_there(&self, known: &Container) -> Result<bool, Failure> {
        Ok(self.as_it_is_now(known)?.is_some())
    }

    /// That container as it is now. It may look like `known`: a schema that was set and removed again has refused what was
    /// under way between.
    pub(crate) fn as_it_is_now(&self, known: &Container) -> Result<Option<Arc<Container>>, Failure> {
        let catalog = self.0.store.refresh_catalog()?;
        Ok(catalog.container_by_number(known.number()).cloned())
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
            (Route::Children { owner, kind }, method) => {
                handlers::children::on_feed(self, request, &method, &owner, kind).await
            }
            (Route::Child { owner, kind, id }, method) => {
                handlers::children::on_child(self, request, &method, &owner, kind, &id).await
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
