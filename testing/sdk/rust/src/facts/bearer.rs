//! Bearer tokens, as managed identities send them, and roles.

use super::{Outcome, facts};
use crate::cosmos::{Cosmos, properties};
use azure_core::credentials::{AccessToken, TokenCredential, TokenRequestOptions};
use azure_core::time::{Duration, OffsetDateTime};
use serde_json::{Value, json};
use std::sync::Arc;

facts! { Running:
    "access.bearer" => a_reader_reads_and_writes_nothing,
    "access.bearer" => a_contributor_writes,
}

/// A credential that always gives the same token.
#[derive(Debug)]
pub struct Fixed(pub String);

#[async_trait::async_trait]
impl TokenCredential for Fixed {
    async fn get_token(
        &self,
        _scopes: &[&str],
        _options: Option<TokenRequestOptions<'_>>,
    ) -> azure_core::Result<AccessToken> {
        Ok(AccessToken::new(self.0.clone(), OffsetDateTime::now_utc() + Duration::seconds(3000)))
    }
}

async fn a_reader_reads_and_writes_nothing(cosmos: Cosmos) -> Outcome {
    let place = cosmos.place(properties("/pk"), None).await?;
    place.seen_by(&cosmos.client).await?.upsert_item("p", "i", json!({"id": "i", "pk": "p"}), None).await?;
    let token = cosmos.server.token(&["--role", "reader"])?;
    let mine = place.seen_by(&cosmos.open_with_token(Arc::new(Fixed(token))).await?).await?;
    let read: Value = mine.read_item("p", "i", None).await?.into_model()?;
    assert_eq!(read["id"], "i");
    let refused = mine.upsert_item("p", "j", json!({"id": "j", "pk": "p"}), None).await;
    assert!(refused.is_err(), "a reader wrote");
    Ok(())
}

async fn a_contributor_writes(cosmos: Cosmos) -> Outcome {
    let place = cosmos.place(properties("/pk"), None).await?;
    let token = cosmos.server.token(&["--role", "contributor", "--scope", &format!("/dbs/{}", place.database)])?;
    let mine = place.seen_by(&cosmos.open_with_token(Arc::new(Fixed(token))).await?).await?;
    mine.upsert_item("p", "i", json!({"id": "i", "pk": "p"}), None).await?;
    let read: Value = mine.read_item("p", "i", None).await?.into_model()?;
    assert_eq!(read["id"], "i");
    Ok(())
}
