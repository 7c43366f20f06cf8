//! `orrery doctor`: examines a running server, its services and its configuration, and says what is wrong in sentences.
//!
//! Each check is a line: `ok`, `look` for what is as it should be and yet worth knowing, `bad` for what wants doing. The exit
//! code is 1 if anything is bad.

use crate::client::{Account, Answer, Call, ServerFlags, Services, block_on};
use crate::storage::{is_storage_service, service_address};
use crate::terminal::{self, BAD, GOOD, NOTICE, Screen};
use bytes::Bytes;
use clap::Args;
use http::{Request, StatusCode};
use orrery_core::Env;
use orrery_protocol::storage::Service;
use orrery_protocol::{Check, Verdict, limits};
use serde_json::{Value, json};
use std::process::ExitCode;

#[derive(Args)]
pub struct DoctorFlags {
    #[command(flatten)]
    server: ServerFlags,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb; the error is a sentence for a person. `files`: what was found in the files that a server would be started
/// with.
pub fn doctor(flags: &DoctorFlags, files: Vec<Check>) -> Result<ExitCode, String> {
    let findings = block_on(examine(flags, files))??;
    let is_bad = findings.iter().any(|finding| finding.verdict == Verdict::Bad);
    if flags.json {
        let told: Vec<Value> = findings.iter().map(to_json).collect();
        terminal::print_json(&json!({ "healthy": !is_bad, "findings": told }))?;
    } else {
        let screen = Screen::of_stdout();
        let lines: String = findings.iter().map(|finding| to_line(finding, &screen)).collect();
        terminal::print(&lines)?;
    }
    Ok(if is_bad { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn to_line(check: &Check, screen: &Screen) -> String {
    let style = match check.verdict {
        Verdict::Ok => GOOD,
        Verdict::Look => NOTICE,
        Verdict::Bad => BAD,
    };
    let word = screen.paint(style, &format!("{:<5}", check.verdict.word()));
    format!("{word} {:<10} {}\n", check.about, check.sentence)
}

fn to_json(check: &Check) -> Value {
    json!({ "about": check.about, "verdict": check.verdict.word(), "sentence": check.sentence })
}

async fn examine(flags: &DoctorFlags, files: Vec<Check>) -> Result<Vec<Check>, String> {
    let account = flags.server.account()?;
    let env = Env::system().map_err(|error| error.to_string())?;
    let mut findings = files;
    findings.push(signed(&account, &env).await);
    let mut services = match flags.server.services_of(&account).await {
        Ok(services) => services,
        Err(sentence) => {
            findings.push(Check::new("server", Verdict::Bad, sentence));
            return Ok(findings);
        }
    };
    let address = services.address();
    findings.push(Check::new("server", Verdict::Ok, format!("its services answer at {address}")));
    findings.extend(readiness(&get(&mut services, "/readyz", Some(&account)).await?));
    findings.push(clock(&get(&mut services, "/v1/clock", None).await?, &env));
    findings.push(storage(&account, Service::Queue).await);
    findings.push(storage(&account, Service::Table).await);
    findings.push(opened(&get(&mut services, NOWHERE, Some(&account)).await?));
    Ok(findings)
}

async fn get(services: &mut Services, path: &str, account: Option<&Account>) -> Result<Answer, String> {
    let mut request = Request::get(path);
    if let Some(account) = account {
        request = request.header("authorization", account.bearer());
    }
    services.exchange(request, Bytes::new()).await
}

/// What `/readyz` says: the disk and the last commit, alerts, providers.
fn readiness(answer: &Answer) -> Vec<Check> {
    if answer.status != StatusCode::OK {
        return vec![Check::new("disk", Verdict::Bad, answer.refusal())];
    }
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let mut findings = vec![Check::new(
        "disk",
        Verdict::Ok,
        format!("the last commit is on the disk (lsn {})", body["lsn"]),
    )];
    for alert in body["alerts"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        findings.push(Check::new("alerts", Verdict::Bad, format!("{alert} fires; orrery alerts says where")));
    }
    let services = body["services"].as_object().into_iter().flatten();
    let lines = services.filter_map(|(_, told)| told["checks"].as_array()).flatten();
    findings.extend(lines.filter_map(check_of));
    findings
}

/// A service's own check, as `/readyz` tells it.
fn check_of(line: &Value) -> Option<Check> {
    let verdict = Verdict::parse(line["verdict"].as_str()?)?;
    Some(Check::new(line["about"].as_str()?, verdict, line["sentence"].as_str()?))
}

fn clock(answer: &Answer, env: &Env) -> Check {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let Some(there) = body["now_ms"].as_u64() else {
        return Check::new("clock", Verdict::Bad, format!("it is not told: {}", answer.refusal()));
    };
    if body["manual"] == true {
        return Check::new(
            "clock",
            Verdict::Look,
            "it is moved by hand (--clock manual), which is for tests",
        );
    }
    let apart = there.abs_diff(env.now().millis()) / 1000;
    // Beyond this signatures and tokens are refused.
    let verdict = if apart > limits::BEARER_SKEW_SECONDS_MAX { Verdict::Bad } else { Verdict::Ok };
    Check::new("clock", verdict, format!("the server's and this machine's are {apart} seconds apart"))
}

/// Whether the key opens the data.
async fn signed(account: &Account, env: &Env) -> Check {
    let asked = async {
        let request = Call::get(&[]).request(account, env.now())?;
        account.connect().await?.exchange(request).await
    };
    match asked.await {
        Ok(answer) if answer.status == StatusCode::OK => {
            Check::new("key", Verdict::Ok, "the key opens the account")
        }
        Ok(answer) => Check::new(
            "key",
            Verdict::Bad,
            format!("the key does not open the account: {}", answer.refusal()),
        ),
        Err(sentence) => Check::new("key", Verdict::Bad, sentence),
    }
}

/// Whether the queues or the tables of the server answer where it says that they are.
async fn storage(account: &Account, service: Service) -> Check {
    let about = format!("{}s", service.word());
    let asked = async {
        let address = service_address(account, service).await?;
        Ok::<_, String>((is_storage_service(account, &address).await?, address))
    };
    match asked.await {
        Ok((true, address)) => Check::new(&about, Verdict::Ok, format!("they answer at {address}")),
        Ok((false, address)) => {
            let sentence =
                format!("something else answers at {address}, where the server says that they are");
            Check::new(&about, Verdict::Bad, sentence)
        }
        // It may well be that nobody needs them from here.
        Err(sentence) => Check::new(&about, Verdict::Look, sentence),
    }
}

/// Nothing is there, which only those hear who may ask; asking for what is there would create a service's containers.
const NOWHERE: &str = "/v1/users";

/// Whether the same key opens the services.
fn opened(answer: &Answer) -> Check {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    match (answer.status, body["type"].as_str()) {
        (StatusCode::NOT_FOUND, Some(_)) => Check::new("services", Verdict::Ok, "the key opens the services"),
        (StatusCode::NOT_FOUND, None) => Check::new("services", Verdict::Look, "they are switched off"),
        _ => Check::new("services", Verdict::Bad, answer.refusal()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn the_checks_of_every_service_are_lines() {
        let body = json!({ "status": "degraded", "lsn": 7, "alerts": [], "services": {
            "counters": { "checks": [{ "about": "counting", "verdict": "bad", "sentence": "a wheel is stuck" }] },
            "notifications": { "checks": [{ "about": "providers", "verdict": "ok", "sentence": "fine" }] },
        }});
        let answer = answer(&body);
        let lines: Vec<String> = readiness(&answer)
            .iter()
            .map(|check| format!("{} {} {}", check.verdict.word(), check.about, check.sentence))
            .collect();
        assert_eq!(
            lines,
            [
                "ok disk the last commit is on the disk (lsn 7)",
                "bad counting a wheel is stuck",
                "ok providers fine"
            ]
        );
    }

    fn answer(body: &Value) -> Answer {
        Answer { status: StatusCode::OK, headers: Default::default(), body: Bytes::from(body.to_string()) }
    }
}
