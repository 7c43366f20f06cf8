//! The scenes on the server: signed ahead, and the answers without the items, as PostgreSQL's are.

use super::load::Batches;
use super::{ITEMS, SIZE, Scene, Subject};
use crate::drive::{Worker, drive, runtime};
use crate::error::Error;
use crate::item::{self, Place, Random, Template};
use crate::sample::Sample;
use crate::subjects::{Orrery, container};
use orrery_core::Env;
use orrery_testing_client::{Connection, Method, Request, Signer};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

const PATCH: &str = r#"{"operations":[{"op":"incr","path":"/priority","value":1},{"op":"set","path":"/status","value":"DONE"}]}"#;

pub struct OnOrrery {
    runtime: Runtime,
    env: Env,
    batches: Arc<Batches>,
    orrery: Orrery,
}

impl OnOrrery {
    pub fn new(orrery: Orrery) -> Result<Self, Error> {
        Ok(Self { runtime: runtime()?, env: Env::system()?, batches: Arc::default(), orrery })
    }
}

impl Subject for OnOrrery {
    fn name(&self) -> &'static str {
        "orrery"
    }

    fn run(&mut self, scene: Scene, span: Duration) -> Result<Sample, Error> {
        let requests = Arc::new(Requests::new(scene, &Signer::emulator(self.env.now())));
        let address = self.orrery.server.cosmos();
        self.runtime.block_on(async {
            let mut workers = Vec::with_capacity(scene.connections());
            for index in 0..scene.connections() {
                workers.push(BatchWorker {
                    connection: Connection::connect(address).await?,
                    requests: requests.clone(),
                    batches: self.batches.clone(),
                    random: Random::new(index as u64 + 1),
                    scratch: Vec::new(),
                });
            }
            Ok(drive(workers, span).await)
        })
    }
}

/// The bytes of a scene's requests.
enum Requests {
    /// A head for every request, and what stands for an item in the body.
    Many { scene: Scene, head: Template, operation: Template },
    /// A head for each item, signed with its link.
    Each(Vec<Vec<u8>>),
}

impl Requests {
    fn new(scene: Scene, signer: &Signer) -> Self {
        let (path, model) = (container(SIZE), item::model());
        let batch = || {
            Request::new(Method::Post, path.items())
                .header("prefer", "return=minimal")
                .header("x-ms-cosmos-is-batch-request", "true")
                .header("x-ms-cosmos-batch-atomic", (scene == Scene::Create).to_string())
                .header("x-ms-cosmos-batch-continue-on-error", (scene == Scene::Upsert).to_string())
        };
        let mut text = Vec::new();
        item::template(SIZE).append(model, &mut text);
        let text = String::from_utf8_lossy(&text);
        let (request, operation) = match scene {
            Scene::Create => (
                batch().partition(&model.partition()),
                format!(r#"{{"operationType":"Create","resourceBody":{text}}}"#),
            ),
            Scene::Upsert => (
                batch(),
                format!(
                    r#"{{"operationType":"Upsert","partitionKey":"[\"{}\"]","resourceBody":{text}}}"#,
                    model.partition()
                ),
            ),
            Scene::Patch => {
                let places =
                    (0..SIZE.set_items()).map(|number| Place::new(number, crate::cell::Spread::Many));
                let head = |place: Place| {
                    let request = Request::new(Method::Patch, path.item(&place.id()));
                    let request = request.partition(&place.partition()).header("prefer", "return=minimal");
                    request.encode_head(signer, PATCH.len())
                };
                return Self::Each(places.map(head).collect());
            }
        };
        let operation = Template::new(operation.into_bytes(), model);
        // The operations, the commas between them, and two brackets.
        let bytes = ITEMS as usize * (operation.len() + 1) + 1;
        let head = Template::new(request.encode_head(signer, bytes), model);
        Self::Many { scene, head, operation }
    }

    fn write(&self, batches: &Batches, random: &mut Random, to: &mut Vec<u8>) {
        match self {
            Self::Many { scene, head, operation } => {
                let places = batches.places(*scene, random);
                head.append(places[0], to);
                for (index, place) in places.iter().enumerate() {
                    to.push(if index == 0 { b'[' } else { b',' });
                    operation.append(*place, to);
                }
                to.push(b']');
            }
            Self::Each(heads) => {
                let place = batches.places(Scene::Patch, random)[0];
                to.extend_from_slice(&heads[place.number() as usize]);
                to.extend_from_slice(PATCH.as_bytes());
            }
        }
    }
}

struct BatchWorker {
    connection: Connection,
    requests: Arc<Requests>,
    batches: Arc<Batches>,
    random: Random,
    scratch: Vec<u8>,
}

impl Worker for BatchWorker {
    async fn once(&mut self) -> Result<(), String> {
        self.scratch.clear();
        self.requests.write(&self.batches, &mut self.random, &mut self.scratch);
        let reply = self.connection.exchange(&self.scratch).await.map_err(|error| error.to_string())?;
        if reply.status == 200 {
            return Ok(());
        }
        Err(format!("status {}: {}", reply.status, String::from_utf8_lossy(reply.body)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::Timestamp;

    fn written(scene: Scene) -> (String, serde_json::Value) {
        let mut bytes = Vec::new();
        let requests = Requests::new(scene, &Signer::emulator(Timestamp::default()));
        requests.write(&Batches::default(), &mut Random::new(1), &mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
        (head.to_owned(), serde_json::from_str(body).unwrap())
    }

    #[test]
    fn a_batch_names_one_partition_in_its_header_and_in_every_item() {
        let (head, body) = written(Scene::Create);
        let operations = body.as_array().unwrap();
        assert_eq!(operations.len() as u64, ITEMS);
        let partition = operations[0]["resourceBody"]["pk"].as_str().unwrap();
        assert!(head.contains(&format!("x-ms-documentdb-partitionkey: [\"{partition}\"]")), "{head}");
        assert!(operations.iter().all(|operation| operation["resourceBody"]["pk"] == partition));
    }

    #[test]
    fn each_upsert_names_its_own_partition() {
        let (_, body) = written(Scene::Upsert);
        for operation in body.as_array().unwrap() {
            let partition = &operation["resourceBody"]["pk"];
            assert_eq!(operation["partitionKey"], serde_json::json!([partition]).to_string());
        }
    }

    #[test]
    fn a_patch_is_of_one_item() {
        let (head, body) = written(Scene::Patch);
        assert!(head.starts_with("PATCH /dbs/bench/colls/kb1/docs/0000"), "{head}");
        assert_eq!(body["operations"].as_array().unwrap().len(), 2);
    }
}
