//! Requests of `advise`: the definitions of containers, and the report on each.

use crate::client::{Call, Remote, ServerFlags, Services, not_understood};
use bytes::Bytes;
use http::Request;
use orrery_core::Env;
use orrery_documents::definition::ContainerDefinition;
use orrery_protocol::report::Report;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

/// A container and its report.
pub struct Container {
    pub database: String,
    pub name: String,
    pub definition: ContainerDefinition,
    pub report: Report,
}

/// Which containers: one, those of a database, or all.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    pub database: Option<&'a str>,
    pub container: Option<&'a str>,
}

pub async fn containers(server: &ServerFlags, wanted: Wanted<'_>) -> Result<Vec<Container>, String> {
    let account = server.account()?;
    let env = Env::system().map_err(|error| error.to_string())?;
    let cosmos = Remote::at_once(account.clone(), env).await?;
    let databases = match wanted.database {
        Some(name) => vec![name.to_owned()],
        None => databases(&cosmos).await?,
    };
    let mut reports = server.services_of(&account).await?;
    let mut found = Vec::new();
    for database in databases {
        let definitions = match wanted.container {
            Some(name) => vec![definition(&cosmos, &database, name).await?],
            None => definitions(&cosmos, &database).await?,
        };
        for definition in definitions {
            let definition = ContainerDefinition::read(definition)
                .map_err(|error| format!("a container's definition is not understood: {error}"))?;
            let name = definition.name().to_string();
            let report = report(&mut reports, &database, &name).await?;
            found.push(Container { database: database.clone(), name, definition, report });
        }
    }
    Ok(found)
}

async fn databases(cosmos: &Remote) -> Result<Vec<String>, String> {
    let list = cosmos.list(&["dbs"], "Databases").await?.map_err(|refused| refused.refusal())?;
    let name = |database: Map<String, Value>| database.get("id")?.as_str().map(str::to_owned);
    Ok(list.into_iter().filter_map(name).collect())
}

async fn definitions(cosmos: &Remote, database: &str) -> Result<Vec<Map<String, Value>>, String> {
    let list = cosmos.list(&["dbs", database, "colls"], "DocumentCollections").await?;
    list.map_err(|refused| refused.refusal())
}

async fn definition(cosmos: &Remote, database: &str, name: &str) -> Result<Map<String, Value>, String> {
    match cosmos.call(&Call::get(&["dbs", database, "colls", name])).await?.json()? {
        Value::Object(definition) => Ok(definition),
        _ => Err(not_understood()),
    }
}

async fn report(services: &mut Services, database: &str, container: &str) -> Result<Report, String> {
    let value = |name: &str| utf8_percent_encode(name, NON_ALPHANUMERIC).to_string();
    let path = format!("/v1/advice?database={}&container={}", value(database), value(container));
    services.ask(Request::get(path), Bytes::new()).await
}
