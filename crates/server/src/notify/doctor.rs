//! `orrery doctor`: goes over a running server and its configuration, and says what is wrong in sentences.
//!
//! Each check is a line: `ok`, `look` for what is as it should be and yet worth knowing, `bad` for what wants doing. The exit
//! code is 1 if anything is bad.

use super::start::{policy, providers};
use crate::client::{Account, Answer, Call, ServerFlags, Services, block_on};
use crate::terminal::{self, BAD, GOOD, NOTICE, Screen};
use bytes::Bytes;
use clap::Args;
use http::{Request, StatusCode};
use orrery_core::{Env, limits};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct DoctorFlags {
    #[command(flatten)]
    server: ServerFlags,
    /// Also read this policy of notifications
    #[arg(long, value_name = "FILE", env = "ORRERY_NOTIFICATIONS_CONFIG")]
    notifications_config: Option<PathBuf>,
    /// Also read this configuration of push providers
    #[arg(long, value_name = "FILE", env = "ORRERY_PUSH_CONFIG")]
    push_config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Ok,
    Look,
    Bad,
}

struct Finding {
    about: &'static str,
    verdict: Verdict,
    sentence: String,
}

/// Runs the verb; the error is a sentence for a person.
pub fn doctor(flags: &DoctorFlags) -> Result<ExitCode, String> {
    let findings = block_on(examine(flags))??;
    let is_bad = findings.iter().any(|finding| finding.verdict == Verdict::Bad);
    if flags.json {
        let told: Vec<Value> = findings.iter().map(Finding::to_json).collect();
        terminal::print_json(&json!({ "healthy": !is_bad, "findings": told }))?;
    } else {
        let screen = Screen::of_stdout();
        let lines: String = findings.iter().map(|finding| finding.to_line(&screen)).collect();
        terminal::print(&lines)?;
    }
    Ok(if is_bad { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Look => "look",
            Self::Bad => "bad",
        }
    }
}

impl Finding {
    fn to_line(&self, screen: &Screen) -> String {
        let style = match self.verdict {
            Verdict::Ok => GOOD,
            Verdict::Look => NOTICE,
            Verdict::Bad => BAD,
        };
        let word = screen.paint(style, &format!("{:<5}", self.verdict.word()));
        format!("{word} {:<10} {}\n", self.about, self.sentence)
    }

    fn to_json(&self) -> Value {
        json!({ "about": self.about, "verdict": self.verdict.word(), "sentence": self.sentence })
    }
}

fn found(about: &'static str, verdict: Verdict, sentence: impl Into<String>) -> Finding {
    Finding { about, verdict, sentence: sentence.into() }
}

async fn examine(flags: &DoctorFlags) -> Result<Vec<Finding>, String> {
    let account = flags.server.account()?;
    let env = Env::system().map_err(|error| error.to_string())?;
    let mut findings = files(flags, &env);
    findings.push(signed(&account, &env).await);
    let mut services = match flags.server.services_of(&account).await {
        Ok(services) => services,
        Err(sentence) => {
            findings.push(found("server", Verdict::Bad, sentence));
            return Ok(findings);
        }
    };
    let address = services.address();
    findings.push(found("server", Verdict::Ok, format!("its services answer at {address}")));
    findings.extend(readiness(&get(&mut services, "/readyz", None).await?));
    findings.push(clock(&get(&mut services, "/v1/clock", None).await?, &env));
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

/// The files that a server would be started with.
fn files(flags: &DoctorFlags, env: &Env) -> Vec<Finding> {
    let mut findings = Vec::new();
    if flags.notifications_config.is_some() {
        findings.push(match policy(flags.notifications_config.as_deref()) {
            Ok(_) => found("policy", Verdict::Ok, "the policy of notifications is understood"),
            Err(sentence) => found("policy", Verdict::Bad, sentence),
        });
    }
    if flags.push_config.is_some() {
        match providers(flags.push_config.as_deref(), env).map(|providers| providers.troubles()) {
            Ok(troubles) if troubles.is_empty() => {
                findings.push(found("providers", Verdict::Ok, "the push configuration is understood"));
            }
            Ok(troubles) => {
                findings
                    .extend(troubles.into_iter().map(|trouble| found("providers", Verdict::Bad, trouble)));
            }
            Err(sentence) => findings.push(found("providers", Verdict::Bad, sentence)),
        }
    }
    findings
}

/// What `/readyz` says: the disk and the last commit, alerts, providers.
fn readiness(answer: &Answer) -> Vec<Finding> {
    if answer.status != StatusCode::OK {
        return vec![found("disk", Verdict::Bad, answer.refusal())];
    }
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let mut findings =
        vec![found("disk", Verdict::Ok, format!("the last commit is on the disk (lsn {})", body["lsn"]))];
    for alert in body["alerts"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        findings.push(found("alerts", Verdict::Bad, format!("{alert} fires; orrery alerts says where")));
    }
    let Some(troubles) = body["services"]["notifications"]["troubles"].as_array() else {
        findings.push(found("providers", Verdict::Look, "the notification service is switched off"));
        return findings;
    };
    let missing = body["services"]["notifications"]["missing"].as_array().cloned().unwrap_or_default();
    let of_trouble = |trouble: &Value| {
        // Whoever never configured a provider broke nothing.
        let verdict = if missing.contains(trouble) { Verdict::Look } else { Verdict::Bad };
        let sentence = trouble.as_str().unwrap_or_default();
        found("providers", verdict, format!("{sentence}; events are kept meanwhile"))
    };
    let troubles: Vec<Finding> = troubles.iter().map(of_trouble).collect();
    if troubles.is_empty() {
        findings.push(found("providers", Verdict::Ok, "nothing keeps pushes from going out"));
    }
    findings.extend(troubles);
    findings
}

fn clock(answer: &Answer, env: &Env) -> Finding {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let Some(there) = body["now_ms"].as_u64() else {
        return found("clock", Verdict::Bad, format!("it is not told: {}", answer.refusal()));
    };
    if body["manual"] == true {
        return found("clock", Verdict::Look, "it is moved by hand (--clock manual), which is for tests");
    }
    let apart = there.abs_diff(env.now().millis()) / 1000;
    // Beyond this signatures and tokens are refused.
    let verdict = if apart > limits::BEARER_SKEW_SECONDS_MAX { Verdict::Bad } else { Verdict::Ok };
    found("clock", verdict, format!("the server's and this machine's are {apart} seconds apart"))
}

/// Whether the key opens the data.
async fn signed(account: &Account, env: &Env) -> Finding {
    let asked = async {
        let request = Call::get(&[]).request(account, env.now())?;
        account.connect().await?.exchange(request).await
    };
    match asked.await {
        Ok(answer) if answer.status == StatusCode::OK => {
            found("key", Verdict::Ok, "the key opens the account")
        }
        Ok(answer) => {
            found("key", Verdict::Bad, format!("the key does not open the account: {}", answer.refusal()))
        }
        Err(sentence) => found("key", Verdict::Bad, sentence),
    }
}

/// Nothing is there, which only those hear who may ask; asking for what is there would make the service's containers.
const NOWHERE: &str = "/v1/notifications";

/// Whether the same key opens the services.
fn opened(answer: &Answer) -> Finding {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    match (answer.status, body["type"].as_str()) {
        (StatusCode::NOT_FOUND, Some(_)) => found("services", Verdict::Ok, "the key opens the services"),
        (StatusCode::NOT_FOUND, None) => found("services", Verdict::Look, "they are switched off"),
        _ => found("services", Verdict::Bad, answer.refusal()),
    }
}
