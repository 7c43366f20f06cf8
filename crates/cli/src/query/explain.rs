//! `--explain`: what each stage makes of a query, as the stage prints itself.

use super::access::Explained;
use super::complaint;
use super::parameter::{Parameter, bound};
use clap::Args;
use orrery_query::lex::{Token, TokenKind, lex};
use orrery_query::parse::{parse, print};
use orrery_query::plan::Rules;
use orrery_query::plan::distributed::{DistributeOptions, QueryRange, distribute};
use orrery_query::{Prepared, QueryError, prepare};
use orrery_value::Value;

#[derive(Args, Clone, Copy, Default)]
pub struct Stages {
    /// Explain the query instead of running it: the plan, or the stages that are named. With a container also how its server
    /// would come to the documents
    #[arg(long)]
    explain: bool,
    /// Explain: the tokens, each with its place in bytes
    #[arg(long)]
    tokens: bool,
    /// Explain: the tree, written as a query with every parenthesis
    #[arg(long)]
    ast: bool,
    /// Explain: the plan, from what comes out to what goes in
    #[arg(long)]
    plan: bool,
    /// Explain: how the server of the container would come to the documents
    #[arg(long)]
    access: bool,
    /// Explain: how a client runs it over several ranges, as the query-plan endpoint answers
    #[arg(long)]
    distributed: bool,
}

type Stage = fn(&str, &[(String, Value)]) -> Result<String, QueryError>;

impl Stages {
    pub fn are_wanted(&self) -> bool {
        self.explain || self.access || !self.named().is_empty()
    }

    /// Whether a server is to be asked: if that is said, or if nothing is said and there is a container to ask about.
    pub fn ask_server(&self, has_container: bool) -> bool {
        self.access || (has_container && self.named().is_empty())
    }

    fn named(&self) -> Vec<(&'static str, Stage)> {
        let all: [(bool, &'static str, Stage); 4] = [
            (self.tokens, "tokens", tokens),
            (self.ast, "ast", ast),
            (self.plan, "plan", plan),
            (self.distributed, "distributed", distributed),
        ];
        all.into_iter().filter(|(wanted, ..)| *wanted).map(|(_, name, stage)| (name, stage)).collect()
    }
}

/// The stages that are wanted and what the server said, each with its name.
pub fn explain(
    text: &str,
    parameters: &[Parameter],
    stages: &Stages,
    server: Option<&Explained>,
) -> Result<Vec<(&'static str, String)>, String> {
    let parameters = bound(parameters);
    let mut shown: Vec<(&'static str, String)> = Vec::new();
    for (name, stage) in stages.named() {
        let text = stage(text, &parameters).map_err(|error| complaint::of_error(text, &error))?;
        shown.push((name, text));
    }
    match server {
        Some(said) if stages.named().is_empty() && !stages.access => {
            shown.extend([("plan", format!("{}\n", said.plan)), ("access", said.way())]);
        }
        Some(said) => shown.push(("access", said.way())),
        None if shown.is_empty() => {
            shown.push(("plan", plan(text, &parameters).map_err(|error| complaint::of_error(text, &error))?));
        }
        None => {}
    }
    Ok(shown)
}

/// For a person: under their names if they are more than one.
pub fn text(shown: &[(&'static str, String)]) -> String {
    match shown {
        [(_, text)] => text.clone(),
        several => {
            let headed = several.iter().map(|(name, text)| format!("{name}:\n{text}"));
            headed.collect::<Vec<_>>().join("\n")
        }
    }
}

fn tokens(text: &str, _: &[(String, Value)]) -> Result<String, QueryError> {
    let tokens = lex(text).map_err(|complaint| complaint.in_utf16(text))?;
    Ok(tokens.iter().map(|token| token_line(text, token)).collect())
}

fn token_line(text: &str, token: &Token) -> String {
    let kind = match &token.kind {
        TokenKind::Name => "name",
        TokenKind::Keyword(_) => "keyword",
        TokenKind::Number(_) => "number",
        TokenKind::String(_) => "string",
        TokenKind::Parameter => "parameter",
        TokenKind::Symbol(_) => "symbol",
        TokenKind::Stray => "stray",
        TokenKind::End => "end",
    };
    let shown = text.get(token.at.start as usize..token.at.end as usize).unwrap_or_default();
    let line = format!("{:>5}..{:<5} {kind:<9} {shown}", token.at.start, token.at.end);
    format!("{}\n", line.trim_end())
}

fn ast(text: &str, _: &[(String, Value)]) -> Result<String, QueryError> {
    let ast = parse(text).map_err(|complaint| complaint.in_utf16(text))?;
    Ok(format!("{}\n", print(&ast)))
}

fn plan(text: &str, parameters: &[(String, Value)]) -> Result<String, QueryError> {
    Ok(format!("{}\n", prepare(text, parameters, Rules::On)?.plan))
}

/// Without a container there are no partition keys to narrow by, so all of its keys are one range; a query that reads no
/// document is asked of the first.
fn distributed(text: &str, parameters: &[(String, Value)]) -> Result<String, QueryError> {
    let Prepared { ast, .. } = prepare(text, parameters, Rules::On)?;
    let plan = distribute(&ast, parameters, &DistributeOptions::default())?;
    let range = if ast.from.is_empty() { QueryRange::point("") } else { QueryRange::whole() };
    let json = plan.to_json(&[range]);
    let pretty = serde_json::from_str::<serde_json::Value>(&json).map(|value| format!("{value:#}\n"));
    Ok(pretty.unwrap_or(json))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parameter;

    fn explained(stages: Stages, text: &str) -> Result<String, String> {
        let five = parameter::parse("@five=5").expect("a parameter");
        explain(text, &[five], &stages, None).map(|shown| super::text(&shown))
    }

    const QUERY: &str = "SELECT VALUE c.id FROM c WHERE c.n > @five";

    #[test]
    fn the_plan_is_what_is_shown_unless_stages_are_named() {
        let expected = "Project c.id ─ Filter c.n > 5 ─ Scan c\n";
        let explain = Stages { explain: true, ..Stages::default() };
        assert_eq!(explained(explain, QUERY).as_deref(), Ok(expected));
        let plan = Stages { plan: true, ..Stages::default() };
        assert_eq!(explained(plan, QUERY).as_deref(), Ok(expected));
        assert!(explain.are_wanted() && plan.are_wanted() && !Stages::default().are_wanted());
    }

    #[test]
    fn tokens_have_their_place() {
        let stages = Stages { tokens: true, ..Stages::default() };
        let expected = "    0..6     keyword   SELECT\n    7..12    parameter @five\n   12..12    end\n";
        assert_eq!(explained(stages, "SELECT @five").as_deref(), Ok(expected));
    }

    #[test]
    fn the_tree_needs_no_names_to_be_there() {
        let stages = Stages { ast: true, ..Stages::default() };
        assert_eq!(
            explained(stages, "select nobody.id+1 as x").as_deref(),
            Ok("SELECT (nobody.id + 1) AS x\n")
        );
    }

    #[test]
    fn the_distributed_plan_is_the_document_that_clients_read() {
        let stages = Stages { distributed: true, ..Stages::default() };
        let shown = explained(stages, "SELECT VALUE COUNT(1) FROM c").expect("a plan");
        let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(shown["queryInfo"]["aggregates"], serde_json::json!(["Count"]));
        assert_eq!(shown["queryRanges"][0]["max"], "FF");
    }

    #[test]
    fn several_stages_have_headings() {
        let stages = Stages { ast: true, plan: true, ..Stages::default() };
        let expected = "ast:\nSELECT VALUE 1\n\nplan:\nProject 1\n";
        assert_eq!(explained(stages, "SELECT VALUE 1").as_deref(), Ok(expected));
    }

    #[test]
    fn what_a_server_said_stands_beside_the_stages() {
        let said =
            Explained { plan: "its plan".into(), partitions: "all".into(), access: "index /n > 5".into() };
        let shown = |stages: Stages| {
            super::text(&super::explain("SELECT VALUE 1", &[], &stages, Some(&said)).expect("text"))
        };
        let way = "access:\nindex /n > 5; all partitions\n";
        let explain = Stages { explain: true, ..Stages::default() };
        assert_eq!(shown(explain), format!("plan:\nits plan\n\n{way}"));
        assert_eq!(shown(Stages { ast: true, ..explain }), format!("ast:\nSELECT VALUE 1\n\n{way}"));
        assert_eq!(shown(Stages { access: true, ..explain }), "index /n > 5; all partitions\n");
        assert!(explain.ask_server(true) && !explain.ask_server(false));
        assert!(!Stages { ast: true, ..explain }.ask_server(true));
        assert!(Stages { access: true, ..Stages::default() }.ask_server(false));
    }

    #[test]
    fn a_mistake_is_pointed_at() {
        let stages = Stages { explain: true, ..Stages::default() };
        let shown = explained(stages, "SELECT d.id FROM c").expect_err("a complaint");
        assert!(
            shown.starts_with("SC2001, ") && shown.ends_with("  SELECT d.id FROM c\n         ^"),
            "{shown}"
        );
    }
}
