//! What a server would do with a query, as it says itself: the plan, the partitions, and the way to the documents.

use super::complaint;
use super::endpoint::Endpoint;
use super::pages::{Ask, Question};
use crate::client::Answer;
use serde_json::Value;

/// Of our own server; others answer with rows.
const EXPLAIN: &str = "x-orrery-explain";

#[derive(Debug, PartialEq, Eq)]
pub struct Explained {
    pub plan: String,
    /// `all`, `one` or how many.
    pub partitions: String,
    pub access: String,
}

pub async fn ask(endpoint: &Endpoint, question: &Question) -> Result<Explained, String> {
    let ask = Ask { body: question.body.clone(), continuation: None, rows_max: None };
    let call = endpoint.call(&ask).header(EXPLAIN, "true".to_owned());
    explained(question, &endpoint.remote().await?.call(&call).await?)
}

fn explained(question: &Question, answer: &Answer) -> Result<Explained, String> {
    if !answer.status.is_success() {
        return Err(complaint::of_answer(&question.text, answer.status, &answer.body));
    }
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let member = |name: &str| body[name].as_str().map(str::to_owned);
    let all = || {
        let (plan, partitions) = (member("plan")?, member("partitions")?);
        Some(Explained { plan, partitions, access: member("access")? })
    };
    all().ok_or_else(|| "the server does not explain queries; is it an Orrery of this version?".to_owned())
}

impl Explained {
    /// The way to the documents, on one line.
    pub fn way(&self) -> String {
        let partitions = match self.partitions.as_str() {
            "one" => "one partition".to_owned(),
            many => format!("{many} partitions"),
        };
        format!("{}; {partitions}\n", self.access)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http::{HeaderMap, StatusCode};

    fn answer(status: u16, body: &'static str) -> Answer {
        let status = StatusCode::from_u16(status).expect("a status");
        Answer { status, headers: HeaderMap::new(), body: Bytes::from_static(body.as_bytes()) }
    }

    #[test]
    fn an_answer_is_a_plan_and_a_way_or_it_is_none() {
        let question = Question::new("SELECT 1", &[]);
        let body = r#"{"plan":"p","partitions":"one","access":"scan"}"#;
        let found = explained(&question, &answer(200, body)).expect("an explanation");
        assert_eq!((found.plan.as_str(), found.way().as_str()), ("p", "scan; one partition\n"));
        for body in [r#"{"Documents":[],"_count":0}"#, "", "[]"] {
            let refusal = explained(&question, &answer(200, body)).expect_err(body);
            assert!(refusal.contains("does not explain"), "{refusal}");
        }
    }
}
