//! Connecting: both transports, the key, and the program the README shows.

use super::{Outcome, facts};
use crate::check::refused;
use crate::cosmos::{Cosmos, fresh};
use std::process::Command;

/// 64 zero bytes, which is a well-formed key and nobody's.
const WRONG_KEY: &str =
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==";

facts! { Running:
    "account.connect" => a_client_is_built_and_works,
    "account.bad_key" => a_wrong_key_is_refused,
    "account.quickstart" => the_quick_start_stores_and_reads_an_item,
}

async fn a_client_is_built_and_works(cosmos: Cosmos) -> Outcome {
    let client = cosmos.open().await?;
    client.create_database(&fresh("db"), None).await?;
    Ok(())
}

async fn a_wrong_key_is_refused(cosmos: Cosmos) -> Outcome {
    let outcome = match cosmos.open_with_key(WRONG_KEY).await {
        Ok(client) => client.create_database(&fresh("never"), None).await.map(drop),
        Err(error) => Err(error),
    };
    assert_eq!(refused(outcome), 401);
    Ok(())
}

async fn the_quick_start_stores_and_reads_an_item(cosmos: Cosmos) -> Outcome {
    let program = std::env::current_exe()?.with_file_name("quickstart");
    let run = Command::new(program)
        .env("COSMOS_ENDPOINT", cosmos.endpoint())
        .env("AZURE_COSMOS_EMULATOR_SERVER_CERT_VALIDATION_DISABLED", "true")
        .output()?;
    let errors = String::from_utf8_lossy(&run.stderr);
    assert_eq!(String::from_utf8_lossy(&run.stdout), "274 moons\n", "{errors}");
    Ok(())
}
