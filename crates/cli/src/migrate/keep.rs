//! The old containers after a migration: their retention, and dropping them.
//!
//! The time is the server's: that of an item which is written when somebody asks.

use super::changes::{From, Page};
use super::record::Phase;
use super::run::{Run, containers};
use super::state::{RangeState, RunState, Stage, ranges, server_now};
use super::verify::each_wanted;
use super::world::{Which, World};
use orrery_value::Value;
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;

/// `7d`, `12h`, `30m`, `45s`.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a time such as 7d, 12h, 30m or 45s");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        'd' => 86_400,
        'h' => 3_600,
        'm' => 60,
        's' => 1,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(wrong)
}

pub async fn finish(world: &World, run: &mut Run, keep: Duration) -> Result<(), String> {
    let phase = Phase::Finished { at: server_now(world).await?, keep_seconds: keep.as_secs() };
    run.enter(phase).await
}

pub async fn cleanup(world: &World, drop_left: bool, is_json: bool) -> Result<ExitCode, String> {
    let name = &world.plan.name;
    let mut run = RunState::found(world).await?;
    let until = match run.record.phase {
        Phase::Finished { at, keep_seconds } => at.saturating_add(keep_seconds),
        Phase::Cleaned => return Err(format!("the old containers of '{name}' are dropped already")),
        Phase::Copying | Phase::Following => {
            return Err(format!("'{name}' is not finished: orrery migrate {name} --finish"));
        }
    };
    let now = server_now(world).await?;
    if now < until {
        return Err(format!(
            "the old containers of '{name}' stay for {} seconds more, as --keep said; until then there is a way back",
            until - now
        ));
    }
    is_done_with(world, drop_left).await?;
    // Whoever took it up again in the meantime has written it.
    run.save(world).await?;
    let mut dropped = Vec::new();
    for (container, _) in containers(world, Which::Source)? {
        world.database(Which::Source).drop_container(&container).await?;
        dropped.push(container);
    }
    run.enter(world, Phase::Cleaned).await?;
    let text = match is_json {
        true => json!({"dropped": dropped}).to_string(),
        false => format!("dropped {}", dropped.join(", ")),
    };
    super::report::print(&text).map(|()| ExitCode::SUCCESS)
}

/// Data that is only in the old containers must not be lost with them.
async fn is_done_with(world: &World, drop_left: bool) -> Result<(), String> {
    let ranges = ranges(world, Which::Source).await?;
    for state in &ranges {
        is_unused(world, state, written_since(world, state).await?)?;
    }
    for state in &ranges {
        is_unused(world, state, deleted_since(world, state).await?)?;
    }
    if drop_left {
        return Ok(());
    }
    match each_wanted(world, |_, _, _| {}).await? {
        0 => Ok(()),
        left => Err(format!(
            "{left} items of the old containers were taken by no rule and would be lost; --drop-left drops them too"
        )),
    }
}

fn is_unused(world: &World, state: &RangeState, news: Option<Value>) -> Result<(), String> {
    let Some(item) = news else { return Ok(()) };
    Err(format!(
        "'{}' was written after '{}' was finished, such as the item {}; somebody still uses it. \
         Bring it over with --reopen --finish, or drop the container yourself",
        state.container,
        world.plan.name,
        item.member("id").to_json()
    ))
}

/// An item that was written after the migration was finished. Latest versions are asked for, as these are known however long ago
/// that was.
async fn written_since(world: &World, state: &RangeState) -> Result<Option<Value>, String> {
    let mut position = state.position().map(str::to_owned);
    loop {
        match page(world, state, From::Items(position.as_deref())).await? {
            Page::Changes { mut changes, .. } if !changes.is_empty() => {
                return Ok(Some(changes.swap_remove(0).current.unwrap_or_default()));
            }
            Page::Changes { is_end: true, .. } => return Ok(None),
            Page::Changes { position: next, .. } => position = Some(next),
            Page::Split | Page::Forgotten => return Err(is_moving(&state.container)),
        }
    }
}

/// An item that somebody deleted since, and whose copy is still there. What went because its time was over does not count.
async fn deleted_since(world: &World, state: &RangeState) -> Result<Option<Value>, String> {
    let Stage::Follow { position, has_deletes: true } = &state.stage else { return Ok(None) };
    let mut position = position.clone();
    loop {
        match page(world, state, From::Versions(&position)).await? {
            Page::Changes { changes, position: next, is_end } => {
                if let Some(change) = changes.into_iter().find(|change| !change.is_expiry) {
                    return Ok(Some(change.current.or(change.previous).unwrap_or_default()));
                }
                if is_end {
                    return Ok(None);
                }
                position = next;
            }
            Page::Split => return Err(is_moving(&state.container)),
            Page::Forgotten => {
                return Err(format!(
                    "items of '{0}' went after '{1}' was finished, and whether somebody deleted them or their time was over is not \
                     known any more; if nobody uses '{0}', drop the container yourself",
                    state.container, world.plan.name
                ));
            }
        }
    }
}

async fn page(world: &World, state: &RangeState, from: From<'_>) -> Result<Page, String> {
    world.database(Which::Source).changes(&state.container, Some(&state.range), from).await
}

fn is_moving(container: &str) -> String {
    format!("'{container}' is being split just now, so somebody uses it; look at it, and try again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_and_a_unit() {
        for (text, seconds) in [("7d", 604_800), ("12h", 43_200), ("30m", 1_800), ("0s", 0)] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in
            ["", "7", "d", "-1d", "1.5h", "7 d", "7w", "99999999999999999999d", "9999999999999999999d", "1é"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
