//! The table of routes as OpenAPI 3.1.

use crate::table::{Row, name};
use orrery_api_common::problem::{BLANK, CONTENT, Kind};
use orrery_kit::service::{ParameterKind, Route, Shape, Who};
use serde_json::{Map, Value, json};

/// The services name their schemas and operations so that no two are alike.
pub fn description(rows: &[Row], schemas: Vec<(&'static str, Value)>) -> Value {
    let mut paths = Map::new();
    for row in rows {
        let path = paths.entry(row.route.path).or_insert_with(|| json!({}));
        let verb = row.route.method.as_str().to_ascii_lowercase();
        let Row { route: Route { path: at, id, .. }, .. } = row;
        assert!(path.get(&verb).is_none(), "two routes are {verb} {at}: {id} and another");
        path[verb] = operation(row);
    }
    let mut all = Map::new();
    for (name, schema) in schemas.into_iter().chain([("Problem", problem())]) {
        assert!(all.insert(name.to_owned(), schema).is_none(), "two services describe a schema '{name}'");
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Orrery services",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Times are ISO 8601 in UTC. What is no success is a problem (RFC 9457).",
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": all,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                    "description": "A token of an issuer that the server knows, or a key of the account" },
                "key": { "type": "apiKey", "in": "header", "name": "x-api-key",
                    "description": "A key of the account" },
            },
        },
    })
}

fn operation(row: &Row) -> Value {
    let Row { route, tag, .. } = row;
    let mut operation = json!({
        "operationId": route.id,
        "summary": route.summary,
        "description": who(route.who, tag),
        "tags": [tag],
        "security": security(route.who),
        "parameters": parameters(route),
        "responses": responses(route),
    });
    if let Some(shape) = route.request {
        operation["requestBody"] = json!({
            "required": !route.is_request_optional,
            "content": content(shape),
        });
    }
    operation
}

fn who(who: Who, service: &str) -> String {
    match who {
        Who::Everybody => "For everybody.".to_owned(),
        Who::Owner => format!("For the user that the path names, and for the role {service}.admin."),
        Who::Role("admin") => format!("For the role {service}.admin."),
        Who::Role(role) => format!("For the roles {service}.{role} and {service}.admin."),
    }
}

fn security(who: Who) -> Value {
    match who {
        Who::Everybody => json!([]),
        Who::Owner | Who::Role(_) => json!([{ "token": [] }, { "key": [] }]),
    }
}

fn parameters(route: &Route) -> Vec<Value> {
    let in_path =
        route.path.split('/').filter_map(name).map(
            |name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }),
        );
    let in_query = route.query.iter().map(|parameter| {
        let schema = match parameter.kind {
            ParameterKind::Text => json!({ "type": "string" }),
            ParameterKind::Switch => json!({ "type": "boolean" }),
            ParameterKind::Number { from, to } => {
                json!({ "type": "integer", "minimum": from, "maximum": to })
            }
        };
        json!({ "name": parameter.name, "in": "query", "description": parameter.about, "schema": schema })
    });
    let mut parameters: Vec<Value> = in_path.chain(in_query).collect();
    if route.takes_if_match {
        parameters.push(header("If-Match", "The tag that it must still have; else 412 with what it is now"));
    }
    if route.takes_idempotency_key {
        parameters.push(header(
            "Idempotency-Key",
            "Sent again within 24 hours the same request is answered as it was; another request is refused with 422",
        ));
    }
    if matches!(route.success.1, Shape::Events(_)) {
        parameters.push(header("Last-Event-ID", "Go on behind this event"));
    }
    parameters
}

fn header(name: &str, about: &str) -> Value {
    json!({ "name": name, "in": "header", "description": about, "schema": { "type": "string" } })
}

fn responses(route: &Route) -> Value {
    let (status, shape) = route.success;
    let failure = |about: &str| {
        let schema = json!({ "$ref": "#/components/schemas/Problem" });
        json!({ "description": about, "content": { CONTENT: { "schema": schema } } })
    };
    let mut responses = Map::new();
    responses.insert(status.to_string(), json!({ "description": "Done.", "content": content(shape) }));
    if route.takes_if_match {
        responses.insert("412".to_owned(), failure("It has changed; `current` is what it is now."));
    }
    if route.takes_idempotency_key {
        responses.insert("422".to_owned(), failure("The Idempotency-Key came with another request."));
    }
    if route.who != Who::Everybody {
        responses
            .insert("401".to_owned(), failure("Nobody is asking, or with a token or key that is not taken."));
        responses.insert("403".to_owned(), failure("The caller may not."));
        responses.insert("429".to_owned(), failure("Too many requests; Retry-After says when to come back."));
    }
    responses.insert("default".to_owned(), failure("What went wrong."));
    Value::Object(responses)
}

fn content(shape: Shape) -> Value {
    let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let (kind, schema) = match shape {
        Shape::Named(name) => ("application/json", reference(name)),
        Shape::Several(name) => ("application/json", json!({ "type": "array", "items": reference(name) })),
        Shape::Page(name) => {
            let continuation = json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] });
            let items = json!({ "type": "array", "items": reference(name) });
            let properties = json!({ "items": items, "continuation": continuation });
            ("application/json", json!({ "type": "object", "properties": properties, "required": ["items"] }))
        }
        Shape::Events(name) => {
            let about = format!("Events whose data are {name}");
            ("text/event-stream", json!({ "type": "string", "description": about }))
        }
        Shape::Html => ("text/html", json!({ "type": "string" })),
        Shape::Object => ("application/json", json!({ "type": "object" })),
    };
    json!({ kind: { "schema": schema } })
}

fn problem() -> Value {
    let kinds: Vec<&str> = Kind::EXPLAINED.iter().map(|kind| kind.uri()).chain([BLANK]).collect();
    json!({
        "type": "object",
        "properties": {
            "type": { "enum": kinds },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string", "description": "What to do about it" },
            "instance": { "type": "string", "description": "The path that was asked for" },
            "member": { "type": "string", "description": "Of the input: where" },
            "reason": { "type": "string", "description": "Of the input: what is wrong there" },
            "current": { "description": "With 412: the document as it is now" },
        },
        "required": ["type", "title", "status", "detail"],
    })
}
