//! Throughput: manual, autoscale, on a container, on a database, and none at all.

use super::{Outcome, facts};
use crate::check::refused;
use crate::cosmos::{Cosmos, fresh, properties};
use azure_core::http::headers::{HeaderName, HeaderValue};
use azure_data_cosmos::Result;
use azure_data_cosmos::clients::DatabaseClient;
use azure_data_cosmos::models::ThroughputProperties;
use azure_data_cosmos::options::{CreateContainerOptions, CreateDatabaseOptions, OperationOptionsBuilder};
use std::collections::HashMap;

facts! { Running:
    "throughput.manual" => manual_throughput_reads_back_and_may_change,
    "throughput.manual" => too_little_throughput_is_refused,
    "throughput.autoscale" => autoscale_throughput_reads_back_and_may_change,
    "throughput.database" => the_throughput_of_a_database_reads_back_and_may_change,
    "throughput.none" => a_database_without_throughput_says_so,
    "throughput.none" => a_container_that_shares_its_database_has_none_of_its_own,
}

async fn manual_throughput_reads_back_and_may_change(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container_with_throughput(400).await?;
    assert_eq!(container.read_throughput(None).await?.and_then(|found| found.throughput()), Some(400));
    let changed = container.begin_replace_throughput(ThroughputProperties::manual(700), None).await?.await?;
    assert_eq!(changed.into_model()?.throughput(), Some(700));
    assert_eq!(container.read_throughput(None).await?.and_then(|found| found.throughput()), Some(700));
    Ok(())
}

async fn too_little_throughput_is_refused(cosmos: Cosmos) -> Outcome {
    assert_eq!(refused(cosmos.container_with_throughput(100).await), 400);
    let container = cosmos.container_with_throughput(400).await?;
    let outcome = container.begin_replace_throughput(ThroughputProperties::manual(100), None).await;
    assert_eq!(refused(outcome), 400);
    Ok(())
}

async fn autoscale_throughput_reads_back_and_may_change(cosmos: Cosmos) -> Outcome {
    let given = ThroughputProperties::autoscale(4000, Some(10));
    let container = cosmos.container_of(properties("/pk"), Some(given)).await?;
    let found = container.read_throughput(None).await?.ok_or("no throughput")?;
    assert_eq!((found.autoscale_maximum(), found.autoscale_increment()), (Some(4000), Some(10)));
    container.begin_replace_throughput(ThroughputProperties::autoscale(5000, None), None).await?.await?;
    let found = container.read_throughput(None).await?.ok_or("no throughput")?;
    assert_eq!(found.autoscale_maximum(), Some(5000));
    Ok(())
}

async fn the_throughput_of_a_database_reads_back_and_may_change(cosmos: Cosmos) -> Outcome {
    let database = database_with_throughput(&cosmos, 1000).await?;
    assert_eq!(database.read_throughput(None).await?.and_then(|found| found.throughput()), Some(1000));
    database.begin_replace_throughput(ThroughputProperties::manual(1200), None).await?.await?;
    assert_eq!(database.read_throughput(None).await?.and_then(|found| found.throughput()), Some(1200));
    Ok(())
}

async fn a_database_without_throughput_says_so(cosmos: Cosmos) -> Outcome {
    assert!(cosmos.database().await?.read_throughput(None).await?.is_none());
    Ok(())
}

async fn a_container_that_shares_its_database_has_none_of_its_own(cosmos: Cosmos) -> Outcome {
    let database = database_with_throughput(&cosmos, 1000).await?;
    let (shared, own) = (properties("/pk"), properties("/pk"));
    let throughput = CreateContainerOptions::default().with_throughput(ThroughputProperties::manual(500));
    database.create_container(shared.clone(), None).await?;
    database.create_container(own.clone(), Some(throughput)).await?;
    let shared = database.container_client(shared.id.to_string(), None).await?;
    let own = database.container_client(own.id.to_string(), None).await?;
    assert!(shared.read_throughput(None).await?.is_none());
    assert_eq!(own.read_throughput(None).await?.and_then(|found| found.throughput()), Some(500));
    Ok(())
}

/// The SDK's options for a database have no throughput, so the header is set by hand.
async fn database_with_throughput(cosmos: &Cosmos, throughput: u64) -> Result<DatabaseClient> {
    let name = fresh("db");
    let header = HeaderName::from_static("x-ms-offer-throughput");
    let headers = HashMap::from([(header, HeaderValue::from(throughput.to_string()))]);
    let operation = OperationOptionsBuilder::new().with_custom_headers(headers).build();
    let options = CreateDatabaseOptions::default().with_operation_options(operation);
    cosmos.client.create_database(&name, Some(options)).await?;
    Ok(cosmos.client.database_client(name))
}
