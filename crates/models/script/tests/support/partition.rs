//! An in-memory partition for scripts: a map of documents, and queries by equality.

use orrery_script::{Answer, Document, Host, Operation, Refusal};
use orrery_value::Value;
use std::collections::BTreeMap;

#[derive(Default)]
pub struct Partition {
    documents: BTreeMap<String, String>,
}

impl Partition {
    pub fn new(documents: Vec<String>) -> Self {
        Self { documents: documents.into_iter().map(|text| (id(&text).expect("an id"), text)).collect() }
    }

    pub fn to_text(&self) -> String {
        self.documents.values().cloned().collect::<Vec<_>>().join(" ")
    }

    fn get(&self, document: Document<'_>) -> Result<(String, String), Refusal> {
        let (Document::Id(id) | Document::Rid(id)) = document;
        let found = self.documents.get(id).map(|text| (id.to_owned(), text.clone()));
        found.ok_or_else(|| refused(404, "Entity with the specified id does not exist."))
    }

    fn put(&mut self, id: String, text: &str) -> Result<Answer, Refusal> {
        self.documents.insert(id, text.to_owned());
        Ok(Answer { json: Some(text.to_owned()), ..Answer::default() })
    }

    /// `SELECT * FROM c` and `… WHERE c.<name> = @p`.
    fn query(&self, question: &str, max: Option<usize>, from: Option<&str>) -> Result<Answer, Refusal> {
        let question = Value::parse(question).expect("JSON");
        let Value::String(text) = question.member("query") else { panic!("no text") };
        if !text.starts_with("SELECT * FROM") {
            return Err(refused(400, "Syntax error near 'SELEKT'."));
        }
        let wanted =
            text.split_once("WHERE c.").map(|(_, filter)| filter.split_once(" = ").expect("an equality").0);
        let parameter = match question.member("parameters") {
            Value::Array(list) => list[0].member("value").to_json(),
            _ => String::new(),
        };
        let matches = |text: &&String| {
            wanted.is_none_or(|name| Value::parse(text).expect("JSON").member(name).to_json() == parameter)
        };
        let found: Vec<&String> = self.documents.values().filter(matches).collect();
        let start = from.map_or(0, |from| from.parse::<usize>().expect("a continuation"));
        let end = max.map_or(found.len(), |max| (start + max).min(found.len()));
        let rows = found[start.min(end)..end].iter().map(|text| text.as_str()).collect::<Vec<_>>().join(",");
        let continuation = (end < found.len()).then(|| end.to_string());
        Ok(Answer { json: Some(format!("[{rows}]")), continuation, held_bytes: 0 })
    }
}

impl Host for Partition {
    fn perform(&mut self, operation: Operation<'_>) -> Result<Answer, Refusal> {
        match operation {
            Operation::Create { body, .. } => {
                let id = id(body).ok_or_else(|| refused(400, "The id is missing."))?;
                if self.documents.contains_key(&id) {
                    return Err(refused(409, "Entity with the specified id already exists."));
                }
                self.put(id, body)
            }
            Operation::Upsert { body, .. } => {
                self.put(id(body).ok_or_else(|| refused(400, "The id is missing."))?, body)
            }
            Operation::Read { document } => {
                let (_, text) = self.get(document)?;
                Ok(Answer { json: Some(text), ..Answer::default() })
            }
            Operation::Replace { document, body, options } => {
                let (old, text) = self.get(document)?;
                checked(&text, options.etag)?;
                self.documents.remove(&old);
                let id = id(body).ok_or_else(|| refused(400, "The id is missing."))?;
                self.put(id, body)
            }
            Operation::Delete { document, options } => {
                let (id, text) = self.get(document)?;
                checked(&text, options.etag)?;
                self.documents.remove(&id);
                Ok(Answer { held_bytes: text.len(), ..Answer::default() })
            }
            Operation::Query { question, items_max, continuation } => {
                self.query(question, items_max, continuation)
            }
        }
    }
}

fn checked(text: &str, etag: Option<&str>) -> Result<(), Refusal> {
    let now = Value::parse(text).expect("JSON");
    match (etag, now.member("_etag")) {
        (Some(wanted), Value::String(tag)) if tag != wanted => Err(refused(412, "The document has changed.")),
        _ => Ok(()),
    }
}

fn id(text: &str) -> Option<String> {
    match Value::parse(text).ok()?.member("id") {
        Value::String(id) => Some(id.clone()),
        _ => None,
    }
}

fn refused(number: u32, message: &str) -> Refusal {
    Refusal { number, message: message.to_owned() }
}
