//! `GET /`: the account, and where to reach it (wire guide §3).
//!
//! Every SDK goes on at the addresses told here, so they are built from the one the client dialled, unless the server is
//! configured to advertise another. The member `orrery` is ours: our own tools find the other ports by it, and compare
//! the id that the services port tells as well. SDKs ignore it.

use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use http::StatusCode;
use orrery_documents::charge::Charge;
use orrery_query::limits;
use serde_json::json;

pub fn read(cosmos: &Cosmos, request: &Request) -> Reply {
    let authority = cosmos.advertised().map_or_else(|| request.dialled(), str::to_owned);
    let endpoint = format!("{}://{authority}/", request.peer.scheme);
    let location = json!([{ "name": "Local", "databaseAccountEndpoint": endpoint }]);
    let (name, ports) = (cosmos.account(), cosmos.ports());
    let engine = json!({
        "maxSqlQueryInputLength": limits::QUERY_TEXT_BYTES_MAX,
        "maxJoinsPerSqlQuery": limits::QUERY_JOINS_MAX,
        "maxInExpressionItemsCount": limits::QUERY_IN_ITEMS_MAX,
    });
    Reply::new(StatusCode::OK, Charge::metadata()).value(&json!({
        "_self": "",
        "id": name,
        "_rid": format!("{name}.local"),
        "media": "//media/",
        "addresses": "//addresses/",
        "_dbs": "//dbs/",
        "writableLocations": location,
        "readableLocations": location,
        "enableMultipleWriteLocations": false,
        "continuousBackupEnabled": false,
        "enableNRegionSynchronousCommit": false,
        "enablePerPartitionFailoverBehavior": false,
        "userReplicationPolicy": { "asyncReplication": false, "minReplicaSetSize": 1, "maxReplicasetSize": 4 },
        "userConsistencyPolicy": cosmos.consistency().policy(),
        "systemReplicationPolicy": { "minReplicaSetSize": 1, "maxReplicasetSize": 4 },
        "readPolicy": { "primaryReadCoefficient": 1, "secondaryReadCoefficient": 1 },
        "queryEngineConfiguration": engine.to_string(),
        "orrery": {
            "accountId": cosmos.account_id(),
            "servicesPort": ports.services,
            "queuePort": ports.queue,
            "tablePort": ports.table,
        },
    }))
}
