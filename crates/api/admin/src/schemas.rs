//! `/v1/schemas/{database}/{container}` on the services port.
//!
//! It shows parts of items, so it is for administrators (`server`).

use crate::routes::wrong_verb;
use http::Method;
use http::request::Parts;
use hyper::body::Incoming;
use orrery_api_common::problem::{Kind, Problem};
use orrery_api_common::read_body;
use orrery_api_cosmos::Failure;
use orrery_document_store::{Store, WriteError};
use orrery_documents::catalog::limits;
use orrery_documents::schema::{Definition, Report, SchemaError, Schemas, Seen};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

const ROOT: &str = "/v1/schemas/";

pub fn has(path: &str) -> bool {
    path.starts_with(ROOT)
}

pub async fn handle(store: &Store, head: &Parts, body: Incoming) -> Result<Value, Problem> {
    let (database, container) = named(head.uri.path()).ok_or_else(|| {
        Problem::new(Kind::Missing, "say which container: /v1/schemas/{database}/{container}")
    })?;
    match head.method {
        Method::GET => {}
        Method::PUT => {
            // A schema that is too long has its own error.
            let body = read_body(body, limits::SCHEMA_BYTES_MAX + 1).await;
            let body = body.map_err(|error| Problem::new(Kind::TooLarge, error.to_string()))?;
            set(store, &database, &container, body.to_vec()).await?;
        }
        Method::DELETE => {
            remove(store, &database, &container).await?;
            return Ok(json!({ "database": database, "container": container }));
        }
        _ => return Err(wrong_verb()),
    }
    let schemas = store.schemas(&database, &container).map_err(problem)?;
    Ok(shown(&database, &container, &schemas))
}

fn named(path: &str) -> Option<(String, String)> {
    let (database, container) = path.strip_prefix(ROOT)?.split_once('/')?;
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().ok().map(|name| name.into_owned());
    let is_name = |text: &str| !text.is_empty() && !text.contains('/');
    if is_name(database) && is_name(container) {
        Some((decoded(database)?, decoded(container)?))
    } else {
        None
    }
}

async fn set(store: &Store, database: &str, container: &str, body: Vec<u8>) -> Result<(), Problem> {
    // Compiling may take a while.
    let parsed = tokio::task::spawn_blocking(move || Definition::parse(&body)).await;
    let parsed = parsed.map_err(|error| Problem::new(Kind::Broken, error.to_string()))?;
    let definition = parsed.map_err(problem)?;
    let validation = definition.validation().name();
    store.set_schema(database, container, definition).await.map_err(refusal)?;
    tracing::info!(container = path(database, container), validation, "a schema was set");
    Ok(())
}

async fn remove(store: &Store, database: &str, container: &str) -> Result<(), Problem> {
    store.remove_schema(database, container).await.map_err(refusal)?;
    tracing::info!(container = path(database, container), "a schema was removed");
    Ok(())
}

fn path(database: &str, container: &str) -> String {
    format!("dbs/{database}/colls/{container}")
}

fn shown(database: &str, container: &str, schemas: &Schemas) -> Value {
    let Report { checked, warned, refused, recent } = schemas.report();
    let mut shown = schemas.definition().to_json();
    shown.insert("database".to_owned(), json!(database));
    shown.insert("container".to_owned(), json!(container));
    let recent: Vec<Value> = recent.iter().map(seen).collect();
    shown.insert(
        "items".to_owned(),
        json!({ "checked": checked, "warned": warned, "refused": refused, "recent": recent }),
    );
    Value::Object(shown)
}

fn seen(seen: &Seen) -> Value {
    let violations = seen.violations.first.iter();
    let violations =
        violations.map(|violation| json!({ "pointer": violation.pointer, "reason": violation.reason }));
    json!({ "id": seen.id, "atMs": seen.at.millis(), "refused": seen.is_refused,
        "count": seen.violations.count, "violations": violations.collect::<Vec<_>>() })
}

fn problem(error: SchemaError) -> Problem {
    match error {
        SchemaError::Invalid(_) => Problem::new(Kind::Invalid, error.to_string()),
        SchemaError::DatabaseMissing | SchemaError::ContainerMissing | SchemaError::NoSchema => {
            Problem::new(Kind::Missing, error.to_string())
        }
        SchemaError::Store(error) => Failure::from(error).into(),
    }
}

fn refusal(error: WriteError<SchemaError>) -> Problem {
    match error {
        WriteError::Model(error) => problem(error),
        WriteError::PreconditionFailed => problem(SchemaError::ContainerMissing),
        WriteError::Busy | WriteError::Stopping => Problem::new(Kind::Unavailable, error.to_string()),
        WriteError::Engine(error) => problem(SchemaError::Store(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_database_and_a_container() {
        let both = |path: &str| named(path);
        assert_eq!(both("/v1/schemas/d/c"), Some(("d".to_owned(), "c".to_owned())));
        assert_eq!(both("/v1/schemas/my%20db/a%2Fb"), Some(("my db".to_owned(), "a/b".to_owned())));
        for path in [
            "/v1/schemas/",
            "/v1/schemas/d",
            "/v1/schemas/d/",
            "/v1/schemas//c",
            "/v1/schemas/d/c/x",
            "/v1/schemas/d/%FF",
        ] {
            assert_eq!(both(path), None, "{path}");
        }
    }
}
