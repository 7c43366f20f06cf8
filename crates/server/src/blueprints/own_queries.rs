//! Named queries of `/v1/blueprints`, put to the server's own Cosmos DB endpoint as any client puts them.

use super::Blueprints;
use super::at_start::own_account;
use orrery_api_admin::{NamedQueries, NamedQueryAnswer, NamedQueryRequest};
use orrery_api_common::problem::{Kind, Problem};
use orrery_api_common::secrets::AccountKeys;
use orrery_blueprint::Blueprint;
use orrery_cli::blueprints::{Named, Page, ask_named};
use orrery_core::Env;
use serde_json::Value;
use std::sync::Arc;

pub struct OwnQueries {
    known: Arc<Blueprints>,
    keys: Arc<AccountKeys>,
    env: Env,
}

impl OwnQueries {
    pub fn new(known: Arc<Blueprints>, keys: Arc<AccountKeys>, env: Env) -> Self {
        Self { known, keys, env }
    }

    async fn page(&self, request: NamedQueryRequest<'_>) -> Result<Value, Problem> {
        let NamedQueryRequest { blueprint, query, given, page } = request;
        let filled = Named::new(blueprint, query, &given);
        let filled = filled.map_err(|sentence| Problem::new(Kind::Invalid, sentence))?;
        let account = own_account(&self.keys, self.known.own);
        let account = account.map_err(|sentence| Problem::new(Kind::Broken, sentence))?;
        let page = Page { continuation: page.continuation.as_deref(), rows_max: page.rows_max.as_deref() };
        let asked = ask_named(&account, self.env.now(), &filled, &page).await;
        asked.map_err(|(status, sentence)| Problem::new(Kind::of(status), sentence))
    }
}

impl NamedQueries for OwnQueries {
    fn blueprints(&self) -> &[Blueprint] {
        &self.known.all
    }

    fn run<'a>(&'a self, request: NamedQueryRequest<'a>) -> NamedQueryAnswer<'a> {
        Box::pin(self.page(request))
    }
}
