//! Stores an item and reads it back.

use azure_data_cosmos::models::ContainerProperties;
use azure_data_cosmos::{AccountReference, CosmosClient, RoutingStrategy};
use serde_json::{Value, json};

const KEY: &str = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let endpoint = std::env::var("COSMOS_ENDPOINT").unwrap_or("http://localhost:8081".into());
    let account = AccountReference::with_authentication_key(endpoint.parse()?, KEY);
    let client = CosmosClient::builder().build(account, RoutingStrategy::PreferredRegions(vec![])).await?;

    // Both are refused when they are already there, which is just as well.
    _ = client.create_database("observatory", None).await;
    let database = client.database_client("observatory");
    _ = database.create_container(ContainerProperties::new("planets", "/system".into()), None).await;
    let planets = database.container_client("planets", None).await?;

    planets
        .upsert_item("sol", "saturn", json!({"id": "saturn", "system": "sol", "moons": 274}), None)
        .await?;
    let saturn: Value = planets.read_item("sol", "saturn", None).await?.into_model()?;
    println!("{} moons", saturn["moons"]);
    Ok(())
}
