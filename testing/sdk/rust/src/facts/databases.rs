//! Databases: made, found, listed, removed.

use super::{Outcome, facts};
use crate::check::{Status, refused};
use crate::cosmos::{Cosmos, fresh, properties};
use azure_data_cosmos::Query;
use azure_data_cosmos::models::DatabaseProperties;
use futures::TryStreamExt;

facts! { Running:
    "databases.create" => a_new_database_has_its_system_properties,
    "databases.conflict" => a_second_database_of_that_name_is_a_conflict,
    "databases.read" => a_database_reads_as_it_was_made,
    "databases.not_found" => a_database_nobody_made_is_not_found,
    "databases.list" => the_list_has_every_database,
    "databases.query" => a_query_finds_a_database_by_its_id,
    "databases.delete" => a_deleted_database_takes_its_containers_along,
}

async fn a_new_database_has_its_system_properties(cosmos: Cosmos) -> Outcome {
    let name = fresh("db");
    let answer = cosmos.client.create_database(&name, None).await?;
    assert_eq!(answer.code(), 201);
    let made = answer.into_model()?;
    let system = made.system_properties;
    assert_eq!(made.id.as_deref(), Some(name.as_str()));
    assert_eq!(system.self_link, system.resource_id.map(|rid| format!("dbs/{rid}/")));
    assert!(system.etag.is_some() && system.last_modified.is_some());
    Ok(())
}

async fn a_second_database_of_that_name_is_a_conflict(cosmos: Cosmos) -> Outcome {
    let name = fresh("db");
    cosmos.client.create_database(&name, None).await?;
    assert_eq!(refused(cosmos.client.create_database(&name, None).await), 409);
    Ok(())
}

async fn a_database_reads_as_it_was_made(cosmos: Cosmos) -> Outcome {
    let name = fresh("db");
    let made = cosmos.client.create_database(&name, None).await?.into_model()?;
    let read = cosmos.client.database_client(&name).read(None).await?.into_model()?;
    assert_eq!(read.id, made.id);
    assert_eq!(read.system_properties.resource_id, made.system_properties.resource_id);
    assert_eq!(read.system_properties.etag, made.system_properties.etag);
    Ok(())
}

async fn a_database_nobody_made_is_not_found(cosmos: Cosmos) -> Outcome {
    let none = cosmos.client.database_client(fresh("none"));
    assert_eq!(refused(none.read(None).await), 404);
    assert_eq!(refused(none.delete(None).await), 404);
    Ok(())
}

async fn the_list_has_every_database(cosmos: Cosmos) -> Outcome {
    let names = [fresh("db"), fresh("db"), fresh("db")];
    for name in &names {
        cosmos.client.create_database(name, None).await?;
    }
    let listed = query(&cosmos, "SELECT * FROM c".into()).await?;
    for name in &names {
        assert_eq!(listed.iter().filter(|each| *each == name).count(), 1);
    }
    Ok(())
}

async fn a_query_finds_a_database_by_its_id(cosmos: Cosmos) -> Outcome {
    let names = [fresh("db"), fresh("db")];
    for name in &names {
        cosmos.client.create_database(name, None).await?;
    }
    let by_id = Query::from("SELECT * FROM root r WHERE r.id=@id").with_parameter("@id", &names[1])?;
    assert_eq!(query(&cosmos, by_id).await?, [names[1].clone()]);
    Ok(())
}

async fn a_deleted_database_takes_its_containers_along(cosmos: Cosmos) -> Outcome {
    let place = cosmos.place(properties("/pk"), None).await?;
    let database = cosmos.client.database_client(&place.database);
    assert_eq!(database.delete(None).await?.code(), 204);
    assert_eq!(refused(database.read(None).await), 404);
    assert_eq!(refused(place.seen_by(&cosmos.open().await?).await), 404);
    cosmos.client.create_database(&place.database, None).await?;
    let left: Vec<_> = database.query_containers("SELECT * FROM c", None).await?.try_collect().await?;
    assert_eq!(left.len(), 0);
    Ok(())
}

async fn query(cosmos: &Cosmos, query: Query) -> azure_data_cosmos::Result<Vec<String>> {
    let found: Vec<DatabaseProperties> =
        cosmos.client.query_databases(query, None).await?.try_collect().await?;
    Ok(found.into_iter().filter_map(|each| each.id).collect())
}
