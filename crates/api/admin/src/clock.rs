//! `/v1/clock`: the server's clock, and with `--clock manual` a way to advance it.

use orrery_core::{Env, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    advance_seconds: f64,
}

/// A hundred years, enough for any test.
const ADVANCE_SECONDS_MAX: f64 = 100.0 * 366.0 * 86_400.0;

pub fn show(env: &Env) -> Value {
    shown(env.now(), env.is_manual())
}

/// Advances the clock; the error is a sentence.
pub fn advance(env: &Env, body: &[u8]) -> Result<Value, String> {
    let wish: Advance = serde_json::from_slice(body)
        .map_err(|error| format!("send a body like {{\"advance_seconds\": 5}}: {error}"))?;
    if !(0.0..=ADVANCE_SECONDS_MAX).contains(&wish.advance_seconds) {
        return Err(format!("advance_seconds must be between 0 and {ADVANCE_SECONDS_MAX}"));
    }
    let now = env.advance(Duration::from_secs_f64(wish.advance_seconds));
    now.map(|now| shown(now, true))
        .ok_or_else(|| "the clock is the system's; start with --clock manual".to_owned())
}

fn shown(now: Timestamp, is_manual: bool) -> Value {
    json!({ "now_ms": now.millis(), "now": now.to_http(), "manual": is_manual })
}
