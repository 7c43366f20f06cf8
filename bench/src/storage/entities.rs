//! The bytes of requests on entities, signed ahead, and what their answers must look like.

use super::payload::{self, PAGE_ENTITIES, Places, SET_ENTITIES};
use super::request::{Ask, Signer};
use super::scene::Act;
use crate::item::{self, Place, Random, Template};
use orrery_protocol::storage::Service;
use orrery_testing_client::Reply;

pub const TABLE: &str = "bench";

const ACCEPT: (&str, &str) = ("accept", "application/json;odata=minimalmetadata");
const JSON: (&str, &str) = ("content-type", "application/json");
const NO_CONTENT: (&str, &str) = ("prefer", "return-no-content");
const BOUNDED: (&str, &str) = ("content-type", "multipart/mixed; boundary=batch_1");

/// The least bytes of an answer: an entity is shown, and so is what became of each of a group.
const ENTITY_BYTES_MIN: usize = 900;
const OUTCOME_BYTES_MIN: usize = 100;

pub enum Entities {
    Insert {
        head: Vec<u8>,
        body: Template,
    },
    /// A request for each of the set, as its keys are signed.
    Get(Vec<Vec<u8>>),
    Page(Template),
    Batch {
        head: Vec<u8>,
        part: Template,
    },
}

impl Entities {
    /// `None` if it is not about entities.
    pub fn new(act: Act, signer: &Signer) -> Option<Self> {
        Some(match act {
            Act::Insert => {
                let body = payload::entity();
                let ask = ask("POST", TABLE, &[JSON, ACCEPT, NO_CONTENT]);
                Self::Insert { head: signer.head(&Ask { body_bytes: body.len(), ..ask }), body }
            }
            Act::Get => {
                let get = |place| signer.head(&ask("GET", &path(place), &[ACCEPT]));
                Self::Get((0..SET_ENTITIES).map(payload::of_set).map(get).collect())
            }
            Act::Page => {
                let model = item::model();
                let partition = model.partition();
                let query = format!("$filter=PartitionKey%20eq%20%27{partition}%27&$top={PAGE_ENTITIES}");
                let path = format!("{TABLE}()");
                let ask = Ask { query: &query, ..ask("GET", &path, &[ACCEPT]) };
                Self::Page(Template::new(signer.head(&ask), model))
            }
            Act::Batch => {
                let part = part();
                let body_bytes = BEGIN.len() + PAGE_ENTITIES as usize * part.len() + END.len();
                let ask = ask("POST", "$batch", &[BOUNDED, ACCEPT]);
                Self::Batch { head: signer.head(&Ask { body_bytes, ..ask }), part }
            }
            Act::Put | Act::GetAndDelete => return None,
        })
    }

    /// The next request.
    pub fn write(&self, places: &Places, random: &mut Random, to: &mut Vec<u8>) {
        match self {
            Self::Insert { head, body } => {
                to.extend_from_slice(head);
                body.append(places.new_one(), to);
            }
            Self::Get(heads) => to.extend_from_slice(&heads[random.below(SET_ENTITIES) as usize]),
            Self::Page(head) => head.append(payload::any_of_set(random), to),
            Self::Batch { .. } => self.write_group(places.new_group(), to),
        }
    }

    /// A request for a group of these.
    pub fn write_group(&self, group: impl Iterator<Item = Place>, to: &mut Vec<u8>) {
        if let Self::Batch { head, part } = self {
            to.extend_from_slice(head);
            to.extend_from_slice(BEGIN);
            group.for_each(|place| part.append(place, to));
            to.extend_from_slice(END);
        }
    }

    /// Whether it was done, all of it. A group that failed is answered with success and one short part.
    pub fn check(&self, reply: Reply<'_>) -> Result<(), String> {
        let entities = PAGE_ENTITIES as usize;
        let (status, bytes_min) = match self {
            Self::Insert { .. } => (204, 0),
            Self::Get(_) => (200, ENTITY_BYTES_MIN),
            Self::Page(_) => (200, entities * ENTITY_BYTES_MIN),
            Self::Batch { .. } => (202, entities * OUTCOME_BYTES_MIN),
        };
        if reply.status == status && reply.body.len() >= bytes_min {
            return Ok(());
        }
        Err(format!("status {}: {}", reply.status, String::from_utf8_lossy(reply.body)))
    }
}

/// A request on the table service without a query and a body.
pub fn ask<'a>(verb: &'a str, path: &'a str, headers: &'a [(&'a str, &'a str)]) -> Ask<'a> {
    Ask { service: Service::Table, verb, path, query: "", headers, body_bytes: 0 }
}

pub fn create_table(signer: &Signer) -> Vec<u8> {
    let body = format!("{{\"TableName\":\"{TABLE}\"}}");
    let ask = ask("POST", "Tables", &[JSON, ACCEPT, NO_CONTENT]);
    let mut bytes = signer.head(&Ask { body_bytes: body.len(), ..ask });
    bytes.extend_from_slice(body.as_bytes());
    bytes
}

fn path(place: Place) -> String {
    format!("{TABLE}(PartitionKey='{}',RowKey='{}')", place.partition(), place.id())
}

const BEGIN: &[u8] = b"--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n";
const END: &[u8] = b"--changeset_1--\r\n\r\n--batch_1--\r\n";

/// One insert of a group, as Python's SDK writes it.
fn part() -> Template {
    let (model, mut body) = (item::model(), Vec::new());
    payload::entity().append(model, &mut body);
    let mut bytes = format!(
        "--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
         POST http://127.0.0.1/devstoreaccount1/{TABLE} HTTP/1.1\r\nContent-Type: application/json\r\n\
         Accept: application/json;odata=minimalmetadata\r\nPrefer: return-no-content\r\n\
         DataServiceVersion: 3.0\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.append(&mut body);
    bytes.extend_from_slice(b"\r\n");
    Template::new(bytes, model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::Timestamp;

    fn written(act: Act) -> (String, String) {
        let entities = Entities::new(act, &Signer::new(Timestamp::default())).unwrap();
        let mut bytes = Vec::new();
        entities.write(&Places::default(), &mut Random::new(1), &mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    #[test]
    fn bodies_have_the_length_that_is_announced() {
        for act in [Act::Insert, Act::Batch] {
            let (head, body) = written(act);
            assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
        }
    }

    #[test]
    fn a_group_is_of_a_hundred_entities_of_one_partition() {
        let (_, body) = written(Act::Batch);
        let partitions: Vec<&str> =
            body.split("\"PartitionKey\":\"").skip(1).map(|rest| &rest[..7]).collect();
        assert_eq!(partitions.len(), 100);
        assert!(partitions.iter().all(|partition| *partition == partitions[0]));
        assert!(body.contains("\"RowKey\":\"001000000099\""));
    }

    #[test]
    fn reads_are_of_the_set() {
        let (head, _) = written(Act::Get);
        assert!(head.starts_with("GET /devstoreaccount1/bench(PartitionKey='p5000"), "{head}");
        let (head, _) = written(Act::Page);
        assert!(head.contains("?$filter=PartitionKey%20eq%20%27p5000"), "{head}");
    }

    #[test]
    fn messages_are_no_entities() {
        let signer = Signer::new(Timestamp::default());
        assert!(Entities::new(Act::Put, &signer).is_none());
    }
}
