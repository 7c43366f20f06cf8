//! A query's pages, one after the other, each printed as it comes.
//!
//! The only state between two pages is the continuation that the server gave. One that comes twice would go
//! round for ever, so it is refused.

use super::complaint;
use super::endpoint::Endpoint;
use super::parameter::Parameter;
use super::rows::{Layout, Printer};
use crate::client::{self, Answer, Remote, elements};
use bytes::Bytes;
use orrery_value::{Value, scan_value};
use std::io::Write;

/// What is asked: the same text and body for every page.
pub struct Question {
    pub text: String,
    pub body: Bytes,
}

impl Question {
    pub fn new(text: &str, parameters: &[Parameter]) -> Self {
        let member = |name: &str, value: Value| (name.to_owned(), value);
        let parameters = parameters.iter().map(|it| {
            Value::Object(vec![member("name", it.name.as_str().into()), member("value", it.value.clone())])
        });
        let parameters = Value::Array(parameters.collect());
        let body = Value::Object(vec![member("query", text.into()), member("parameters", parameters)]);
        Self { text: text.to_owned(), body: body.to_json().into() }
    }
}

/// How much is wanted, and how it is printed.
pub struct Wish {
    pub rows_max: Option<u64>,
    pub page_rows: Option<u32>,
    pub layout: Layout,
}

/// One page's part of a request.
pub struct Ask<'a> {
    pub body: Bytes,
    pub continuation: Option<&'a str>,
    pub rows_max: Option<u64>,
}

#[derive(Debug, Default, PartialEq)]
pub struct Totals {
    pub rows: u64,
    pub pages: u64,
    /// Request units.
    pub charge: f64,
    /// The index metrics of the last page, if they were asked for.
    pub indexes: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error("{0}")]
    Told(String),
    #[error(transparent)]
    Output(#[from] std::io::Error),
}

impl From<String> for Trouble {
    fn from(sentence: String) -> Self {
        Self::Told(sentence)
    }
}

pub async fn print_all(endpoint: &Endpoint, question: &Question, wish: &Wish) -> Result<Totals, Trouble> {
    let remote = endpoint.remote().await?;
    let mut printer = Printer::new(wish.layout, std::io::stdout().lock());
    let mut totals = Totals::default();
    let mut continuation: Option<String> = None;
    while let Some(rows_max) = left(wish.rows_max, totals.rows) {
        let rows_max = fewest(rows_max, wish.page_rows.map(u64::from));
        let ask = Ask { body: question.body.clone(), continuation: continuation.as_deref(), rows_max };
        let answer = remote.call(&endpoint.call(&ask)).await?;
        if client::is_left_to_client(&answer) {
            print_merged(endpoint, &remote, question, wish, &mut printer, &mut totals).await?;
            break;
        }
        let page = page(question, &answer)?;
        for row in &page.rows[..page.rows.len().min(most(rows_max))] {
            printer.row(row)?;
            totals.rows += 1;
        }
        printer.flush()?;
        totals.pages += 1;
        totals.charge += page.charge;
        totals.indexes = page.indexes;
        match page.next {
            None => break,
            same if same == continuation => return Err(no_progress().into()),
            next => continuation = next,
        }
    }
    printer.end()?;
    Ok(totals)
}

/// Prints the rows of all ranges, merged here.
async fn print_merged(
    endpoint: &Endpoint,
    remote: &Remote,
    question: &Question,
    wish: &Wish,
    printer: &mut Printer<impl Write>,
    totals: &mut Totals,
) -> Result<(), Trouble> {
    let mut merged = endpoint.merged(remote, &question.body).await?;
    while left(wish.rows_max, totals.rows).is_some() {
        let Some(row) = merged.next().await? else { break };
        printer.row(&row.to_json())?;
        totals.rows += 1;
    }
    printer.flush()?;
    (totals.pages, totals.charge) = (merged.pages, merged.charge);
    Ok(())
}

/// How many rows are still wanted (`Some(None)`: any number), or none at all.
fn left(rows_max: Option<u64>, rows: u64) -> Option<Option<u64>> {
    match rows_max {
        None => Some(None),
        Some(max) => max.checked_sub(rows).filter(|left| *left > 0).map(Some),
    }
}

fn fewest(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    [a, b].into_iter().flatten().min()
}

fn most(rows: Option<u64>) -> usize {
    rows.and_then(|rows| usize::try_from(rows).ok()).unwrap_or(usize::MAX)
}

fn no_progress() -> String {
    "the server gave the same continuation twice; the rows above are not all".to_owned()
}

#[derive(Debug, PartialEq)]
struct Page {
    /// JSON, checked.
    rows: Vec<String>,
    next: Option<String>,
    charge: f64,
    indexes: Option<String>,
}

fn page(question: &Question, answer: &Answer) -> Result<Page, String> {
    if !answer.status.is_success() {
        return Err(complaint::of_answer(&question.text, answer.status, &answer.body));
    }
    Ok(Page {
        rows: rows(answer).ok_or("the server's answer is not a page of rows")?,
        next: answer.continuation(),
        charge: answer.charge(),
        indexes: answer.header("x-ms-cosmos-index-utilization").map(str::to_owned),
    })
}

/// Each row is checked by itself.
fn rows(answer: &Answer) -> Option<Vec<String>> {
    let rows = elements(answer).ok()?;
    let are_well = rows.iter().all(|row| scan_value(row.as_bytes()).is_ok());
    are_well.then(|| rows.into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parameter;
    use http::{HeaderMap, HeaderValue, StatusCode};

    #[test]
    fn parameters_travel_with_the_text_and_an_undefined_one_without_a_value() {
        let parameters = ["@a=\"x\"", "@b"].map(|text| parameter::parse(text).expect(text));
        let question = Question::new("SELECT \"q\"", &parameters);
        let expected = r#"{"query":"SELECT \"q\"","parameters":[{"name":"@a","value":"x"},{"name":"@b"}]}"#;
        assert_eq!(question.body, expected);
    }

    #[test]
    fn a_page_is_its_rows_its_charge_and_where_to_go_on() {
        let question = Question::new("SELECT 1", &[]);
        let mut headers = HeaderMap::new();
        headers.insert("x-ms-continuation", HeaderValue::from_static("next"));
        headers.insert("x-ms-request-charge", HeaderValue::from_static("2.5"));
        let body = br#"{"_rid":"x","Documents":[{"a":[1,"]"]}, 2 ,null],"_count":3}"#;
        let answer = Answer { status: StatusCode::OK, headers, body: Bytes::from_static(body) };
        let found = page(&question, &answer).expect("a page");
        assert_eq!(found.rows, [r#"{"a":[1,"]"]}"#, "2", "null"]);
        assert_eq!((found.next.as_deref(), found.charge), (Some("next"), 2.5));
    }

    #[test]
    fn an_answer_that_is_no_page_is_refused() {
        let answer = |body: &str| {
            let body = Bytes::copy_from_slice(body.as_bytes());
            Answer { status: StatusCode::OK, headers: HeaderMap::new(), body }
        };
        for body in
            ["", "{}", "[]", r#"{"Documents":[1],"_count":2}"#, r#"{"Documents":[1,x],"_count":2}"#, "\u{0}"]
        {
            assert_eq!(rows(&answer(body)), None, "{body}");
        }
        let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
        let body = format!("{{\"Documents\":[{deep}],\"_count\":1}}");
        assert_eq!(rows(&answer(&body)), Some(vec![deep]));
    }

    #[test]
    fn no_more_is_asked_than_is_wanted() {
        assert_eq!(left(None, 7), Some(None));
        assert_eq!((left(Some(5), 3), left(Some(5), 5), left(Some(0), 0)), (Some(Some(2)), None, None));
        assert_eq!(
            (fewest(Some(2), Some(9)), fewest(None, Some(9)), fewest(None, None)),
            (Some(2), Some(9), None)
        );
    }
}
