//! Runs `cases/distributed/*.case`: queries, and the plans by which a client runs them over several ranges.
//!
//! A case is a line `query <sql>`, and before it perhaps `param @name <json>` (without a value, undefined),
//! `vector <path> <distance>` for the container's policy, `form scored` for the other form of hybrid plans, and
//! `partition one` for a filter that names one partition key;
//! `apart <why>` when a client gets another answer than the engine, which is then not compared. These are of the
//! next query only. A line that starts with a space goes on with the one before it. Lines
//! after the query say what comes of it:
//!
//! - `info <json>`: the members of `queryInfo` that differ from a plan without any step, and not the text;
//! - `text <sql>`: what every range is sent, its lines joined by ` / `; left out when that is the query itself;
//! - `needs <names>`: the features a client must know; left out when there are none;
//! - `hybrid <json>` and `statistics <sql>`, and `info` and `text` for each component;
//! - `refused <sentence>`, or `error <code>, <sentence>`.
//!
//! Every text must also be one the parser reads, once a client has filled in its placeholders; and a client that
//! follows the plan over several ranges must get what the query gives over all documents at once.
//!
//! `BLESS=1 cargo test -p orrery-query --test distributed_cases` rewrites what comes of every query.

#[path = "support/memory.rs"]
mod memory;
#[path = "support/merging.rs"]
mod merging;

use memory::{Memory, answer};
use merging::Client;
use orrery_query::bind::Settings;
use orrery_query::functions::vector::Distance;
use orrery_query::parse::parse;
use orrery_query::plan::Rules;
use orrery_query::plan::distributed::{
    Aggregate, DistinctType, DistributeOptions, Distributed, HybridForm, QueryInfo, QueryRange, distribute,
};
use orrery_query::{QueryError, prepare_for};
use orrery_testing_golden::case_files;
use orrery_value::Value;
use std::fs;
use std::path::Path;

#[test]
fn every_case_holds() {
    let bless = std::env::var_os("BLESS").is_some();
    let (mut queries, mut failures) = (0, Vec::new());
    for file in case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/distributed"), "case") {
        let text = fs::read_to_string(&file).expect("a case file is readable");
        assert!(text.starts_with("# "), "{} does not say what it shows", file.display());
        let shown = run_file(&file, &text, &mut queries, &mut failures);
        if bless && shown != text {
            fs::write(&file, shown).expect("a case file is writable");
        } else if shown != text {
            failures.push(difference(&file, &text, &shown));
        }
    }
    assert!(failures.is_empty(), "{} of {queries} queries failed:\n{}", failures.len(), failures.join("\n"));
    assert!(queries >= 80, "only {queries} queries were found; are the case files there?");
}

fn difference(file: &Path, expected: &str, got: &str) -> String {
    let at = expected.lines().zip(got.lines()).position(|(a, b)| a != b).unwrap_or_default();
    let line = |text: &str| text.lines().nth(at).unwrap_or_default().to_owned();
    format!("{}:{}: expected\n  {}\n  got\n  {}", file.display(), at + 1, line(expected), line(got))
}

/// What the next query is planned with.
#[derive(Default)]
struct Setting {
    parameters: Vec<(String, Value)>,
    options: DistributeOptions,
    apart: bool,
}

/// The file's text with what comes of every query written anew.
fn run_file(file: &Path, text: &str, queries: &mut usize, failures: &mut Vec<String>) -> String {
    let (mut shown, mut setting) = (String::new(), Setting::default());
    let mut lines = text.lines().enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        let mut full = line.to_owned();
        shown += &format!("{line}\n");
        let keyword = line.split(' ').next().unwrap_or_default();
        if ["info", "text", "needs", "hybrid", "statistics", "refused", "error"].contains(&keyword) {
            // What came of the query before; it was written anew with it.
            shown.truncate(shown.len() - line.len() - 1);
            continue;
        }
        while let Some((_, more)) = lines.next_if(|(_, next)| next.starts_with(' ')) {
            full += more;
            shown += &format!("{more}\n");
        }
        let rest = full[keyword.len()..].trim();
        let failed = |why: String| format!("{}:{}: {why}", file.display(), at + 1);
        match keyword {
            "query" => {
                *queries += 1;
                match outcome(rest, &std::mem::take(&mut setting)) {
                    Ok(lines) => shown += &lines.into_iter().map(|line| line + "\n").collect::<String>(),
                    Err(why) => failures.push(failed(why)),
                }
            }
            "" | "#" => {}
            _ => {
                if let Err(why) = set(&mut setting, keyword, rest) {
                    failures.push(failed(why));
                }
            }
        }
    }
    shown
}

fn set(setting: &mut Setting, keyword: &str, rest: &str) -> Result<(), String> {
    let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
    match keyword {
        "param" if value.is_empty() => setting.parameters.push((name.to_owned(), Value::Undefined)),
        "param" => {
            let value = Value::parse(value).map_err(|error| error.to_string())?;
            setting.parameters.push((name.to_owned(), value));
        }
        "vector" => {
            let path = name.split('/').skip(1).map(str::to_owned).collect();
            let distance = Distance::parse(value.trim()).ok_or("no such distance")?;
            setting.options.vectors.push((path, distance));
        }
        "apart" => setting.apart = true,
        "partition" if rest == "one" => setting.options.is_one_partition = true,
        "form" if rest == "scored" => setting.options.hybrid = HybridForm::Scored,
        other => return Err(format!("'{other}' is not a keyword")),
    }
    Ok(())
}

/// The lines that say what comes of a query.
fn outcome(sql: &str, setting: &Setting) -> Result<Vec<String>, String> {
    let parameters = &setting.parameters[..];
    let query = parse(sql).map_err(|complaint| complaint.to_string())?;
    let plan = match distribute(&query, parameters, &setting.options) {
        Ok(plan) => plan,
        Err(QueryError::Refused(why)) => return Ok(vec![format!("refused {why}")]),
        Err(error) => return Ok(vec![format!("error {error}")]),
    };
    check_document(&plan)?;
    if !setting.apart {
        let settings = Settings { vectors: setting.options.vectors.clone(), ..Settings::default() };
        check_answer(sql, setting, &settings, &plan)?;
    }
    let mut lines = match &plan.hybrid {
        None => info_lines(&plan.info)?,
        Some(hybrid) => {
            check_text(&hybrid.global_statistics_query)?;
            let mut lines = vec![
                format!(
                    "hybrid {}",
                    without(hybrid.to_value(), &["globalStatisticsQuery", "componentQueryInfos"])
                ),
                format!("statistics {}", one_line(&hybrid.global_statistics_query)),
            ];
            for component in &hybrid.component_query_infos {
                lines.extend(info_lines(component)?);
            }
            lines
        }
    };
    if !plan.features.is_empty() {
        let names: Vec<&str> = plan.features.iter().map(|feature| feature.name()).collect();
        lines.push(format!("needs {}", names.join(", ")));
    }
    Ok(lines)
}

fn info_lines(info: &QueryInfo) -> Result<Vec<String>, String> {
    let mut lines = vec![format!("info {}", changed(info))];
    if !info.rewritten_query.is_empty() {
        check_text(&info.rewritten_query)?;
        lines.push(format!("text {}", one_line(&info.rewritten_query)));
    }
    Ok(lines)
}

/// The members that a plan without steps does not have, or has otherwise.
fn changed(info: &QueryInfo) -> String {
    let Value::Object(plain) = QueryInfo::default().to_value() else { unreachable!("it is an object") };
    let same: Vec<String> = plain
        .iter()
        .filter(|(name, value)| info.to_value().member(name) == value)
        .map(|(name, _)| name.clone())
        .collect();
    let hidden: Vec<&str> = same.iter().map(String::as_str).chain(["rewrittenQuery"]).collect();
    without(info.to_value(), &hidden)
}

fn without(value: Value, hidden: &[&str]) -> String {
    let Value::Object(members) = value else { return value.to_json() };
    Value::Object(members.into_iter().filter(|(name, _)| !hidden.contains(&&**name)).collect()).to_json()
}

fn one_line(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join(" / ")
}

/// A text must be read again as it was written.
fn check_text(text: &str) -> Result<(), String> {
    let mut filled = text.replace("{documentdb-formattableorderbyquery-filter}", "true");
    filled = filled.replace("{documentdb-formattablehybridsearchquery-totaldocumentcount}", "10");
    for index in 0..4 {
        let words = format!("{{documentdb-formattablehybridsearchquery-totalwordcount-{index}}}");
        let hits = format!("{{documentdb-formattablehybridsearchquery-hitcountsarray-{index}}}");
        filled = filled.replace(&words, "100").replace(&hits, "[1,2]");
    }
    if filled.contains("documentdb") {
        return Err(format!("a placeholder is left in {filled}"));
    }
    let query = parse(&filled).map_err(|complaint| format!("{complaint} in {filled}"))?;
    let again = parse(&orrery_query::parse::print(&query)).map_err(|complaint| complaint.to_string())?;
    let [first, second] = [&query, &again].map(orrery_query::parse::print);
    if first == second { Ok(()) } else { Err(format!("{first} is read as {second}")) }
}

/// The document that goes out has every member clients look for.
fn check_document(plan: &Distributed) -> Result<(), String> {
    let document = Value::parse(&plan.to_json(&[QueryRange::whole()])).map_err(|error| error.to_string())?;
    let names = |value: &Value| match value {
        Value::Object(members) => members.iter().map(|(name, _)| name.clone()).collect(),
        _ => Vec::new(),
    };
    let top = ["partitionedQueryExecutionInfoVersion", "queryInfo", "queryRanges", "hybridSearchQueryInfo"];
    if names(&document) != top {
        return Err(format!("the document has {:?}", names(&document)));
    }
    let info = document.member("queryInfo");
    let hybrid = document.member("hybridSearchQueryInfo");
    match plan.hybrid {
        Some(_)
            if matches!(info, Value::Null)
                && matches!(hybrid.member("componentQueryInfos"), Value::Array(_)) =>
        {
            Ok(())
        }
        None if matches!(hybrid, Value::Null) && names(info).len() == 14 => Ok(()),
        _ => Err(format!("the document is {}", document.to_json())),
    }
}

/// Over several ranges, one of them empty, a client gets what the query gives at once.
fn check_answer(sql: &str, setting: &Setting, settings: &Settings, plan: &Distributed) -> Result<(), String> {
    let parameters = &setting.parameters[..];
    let whole = prepare_for(sql, parameters, Rules::On, settings).map_err(|error| error.to_string())?;
    let ranges = [documents(0..9), Vec::new(), documents(9..14), documents(14..30)];
    let expected =
        answer(&whole.plan, &Memory::new(&ranges.concat()), 1000).map_err(|error| error.to_string())?;
    // One partition lies in one range, and what reads no documents is asked of the first.
    let ranges = match setting.options.is_one_partition {
        true => vec![ranges.concat()],
        false if whole.ast.from.is_empty() => ranges[..1].to_vec(),
        false => ranges.to_vec(),
    };
    let ranges: Vec<Memory> = ranges.iter().map(|documents| Memory::new(documents)).collect();
    let got = Client { ranges: &ranges, parameters, settings }.run(sql, plan)?;
    let [expected, got] = [expected, got].map(|rows| comparable(rows, &plan.info));
    if expected == got {
        Ok(())
    } else {
        Err(format!("a client should get\n  {expected}\n  and gets\n  {got}"))
    }
}

/// Groups, sets and distinct rows have no order of their own; of some of them only the number is known.
fn comparable(mut rows: Vec<Value>, info: &QueryInfo) -> String {
    let has_groups = !info.group_by_expressions.is_empty() || info.distinct_type != DistinctType::None;
    if has_groups && info.order_by.is_empty() {
        rows.sort();
        if info.top.is_some() || info.limit.is_some() {
            return format!("{} rows", rows.len());
        }
    }
    if info.aggregates == [Aggregate::MakeSet] {
        rows.iter_mut().for_each(|row| {
            if let Value::Array(items) = row {
                items.sort();
            }
        });
    }
    Value::Array(rows).to_json()
}

/// Documents with all that the cases look at; every member is missing in some, or of another type.
fn documents(numbers: std::ops::Range<usize>) -> Vec<Value> {
    const WORDS: [&str; 6] = ["swim", "run", "a", "b", "x", "calculation"];
    let words = |n: usize| (0..n % 5 + 1).map(|i| WORDS[(n * i + n) % 6]).collect::<Vec<_>>().join(" ");
    let document = |n: usize| {
        let (text, t) = (words(n * 7 % 11), words(n * 5 % 13));
        let mut members =
            format!(r#""id":"i{n}","_rid":"rid{n:03}","_ts":{n},"n":{},"key":{}"#, n % 4, n * 7 % 5);
        let mut add = |if_there: bool, text: String| {
            if if_there {
                members += &format!(",{text}");
            }
        };
        add(!n.is_multiple_of(3), format!(r#""blah":{},"blah2":{n},"name":"m{}""#, n * 3 % 7, n % 3));
        add(n % 4 != 1, format!(r#""a":{{"v":[{n},1]}},"b":[{n},3],"x":{},"val":{}"#, n % 6, n % 5));
        add(
            n % 5 != 2,
            format!(r#""tags":["x","t{n}",{{"n":{},"text":"{t}"}}],"scores":[1,1,{}]"#, n % 3, n % 2),
        );
        add(n % 7 != 3, format!(r#""g":"g{}","zipcode":{},"region":"r{}","age":{n}"#, n % 4, n % 3, n % 2));
        add(
            n % 2 < 1,
            format!(r#""valid":{},"income":{},"address":{{"zip":{n},"city":"c{}"}}"#, n % 4 < 1, n, n % 3),
        );
        add(n % 6 != 5, format!(r#""text":"{text}","abstract":"{t}","t":"{t}","u":"{text}""#));
        add(n % 8 != 7, format!(r#""v":[{},{}],"image":[{n},2,1]"#, n % 6, n % 7 + 1));
        add(
            n % 9 == 4,
            format!(r#""parts":[{{"n":{n},"xs":[1,2]}}],"mark0x":"mark0x","mark_":1,"mark":{n}"#),
        );
        Value::parse(&format!("{{{members}}}")).expect("a document is JSON")
    };
    numbers.map(document).collect()
}
