//! Decides which side of a unit is overwritten when both are written.
//!
//! The state of each side at their last agreement is stored (`base`). A side that differs from it has changed; a side
//! written by the migration equals it, so no write is echoed. If both changed, the later change wins, and a change wins
//! over a deletion.
//!
//! ```text
//! what will be agreed, and every state on the way there ─> the writes ─> what is agreed
//! ```
//!
//! An interruption at any point leaves a record from which the next run knows whether the written side is in an
//! intermediate state or was changed by somebody else.

use super::base::{Base, Kept, Pending};
use super::reconcile::{Seen, do_all, from_target, path, sum, sum_of, writes};
use super::units::{Items, Unit};
use super::world::{Which, World};
use crate::client::{Stored, Written};
use crate::limits;
use orrery_migration::{ItemKey, Refusal, Role};
use orrery_value::Value;

/// `Written::Changed` asks for another pass: after a conflict, or because there is more to do.
pub async fn agree(world: &World, unit: &Unit, origin: Which, seen: &Seen) -> Result<Written, String> {
    let now = Base::agreed(sum(&seen.source), sum(&seen.target));
    let mut kept = Kept::read(world, &unit.source).await?;
    if seen.is_same() {
        return if kept.base.as_ref() == Some(&now) {
            Ok(Written::Done)
        } else {
            kept.write(world, &now).await
        };
    }
    if let Some(why) = is_of_others(world, unit, seen, kept.base.as_ref(), &now) {
        return Ok(Written::Refused(why));
    }
    let times = (newest(&seen.source), newest(&seen.target));
    let to = gives_way(kept.base.as_ref(), &now, times, origin);
    let wanted = match to {
        Which::Target => seen.wanted.clone(),
        Which::Source => from_target(world, unit, &seen.target)?,
    };
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(Refusal(why)) => return Ok(Written::Refused(why)),
    };
    let (found, orphans) = match to {
        Which::Target => (&seen.target, &seen.orphans.1),
        Which::Source => (&seen.source, &seen.orphans.0),
    };
    let writes = writes(unit, found, orphans, &wanted);
    if writes.is_empty() {
        // The source has what the target would become there: only the target's form differs.
        return tidy(world, unit, seen, &now, kept).await;
    }
    let part = &writes[..writes.len().min(limits::MIGRATION_WRITES_MAX)];
    let goal = match to {
        Which::Target => Base::agreed(now.source, sum_of(&wanted)),
        Which::Source => Base::agreed(sum_of(&wanted), now.target),
    };
    let begun = Base { pending: Some(Pending { to, path: path(found, orphans, part) }), ..goal.clone() };
    if kept.write(world, &begun).await? != Written::Done {
        return Ok(Written::Changed);
    }
    let written = do_all(world, to, part).await?;
    if written != Written::Done || part.len() < writes.len() {
        return Ok(if written == Written::Done { Written::Changed } else { written });
    }
    let written = kept.write(world, &goal).await?;
    Ok(if to == Which::Source { Written::Changed } else { written })
}

/// Why a unit is left as it is: one side has an item that is no part of the migration, and neither of them may go because of the
/// other.
fn is_of_others(
    world: &World,
    unit: &Unit,
    seen: &Seen,
    before: Option<&Base>,
    now: &Base,
) -> Option<String> {
    let foreign = |(key, stored): (&ItemKey, &Stored)| {
        unit.hints.iter().any(|hint| hint.key == *key) && !world.plan.can_give(&key.container, &stored.item)
    };
    if let Some((key, _)) = seen.target.iter().find(|one| foreign(*one)) {
        return Some(format!("no rule gives an item such as {key} of the target, so it is left alone"));
    }
    let is_left = seen
        .source
        .get(&unit.source)
        .is_some_and(|root| !matches!(world.plan.role(&unit.source.container, &root.item), Role::Root(_)));
    // What was made of it while a rule took it goes; what somebody else wrote does not.
    let is_copy = before.is_some_and(|before| is_ours(before, now, Which::Target));
    let why = "no rule takes it any more, and its counterpart in the target was written by others";
    (is_left && !is_copy).then(|| why.to_owned())
}

/// Both sides say the same, but the target not in the form that the source becomes, such as places with gaps.
async fn tidy(
    world: &World,
    unit: &Unit,
    seen: &Seen,
    now: &Base,
    mut kept: Kept,
) -> Result<Written, String> {
    let Ok(wanted) = &seen.wanted else { return Ok(Written::Changed) };
    let writes = writes(unit, &seen.target, &seen.orphans.1, wanted);
    let part = &writes[..writes.len().min(limits::MIGRATION_WRITES_MAX)];
    let path = path(&seen.target, &seen.orphans.1, part);
    let begun = Base {
        source: now.source,
        target: sum_of(wanted),
        pending: Some(Pending { to: Which::Target, path }),
    };
    if kept.write(world, &begun).await? != Written::Done {
        return Ok(Written::Changed);
    }
    match do_all(world, Which::Target, part).await? {
        // The next pass finds both sides equal, and records that.
        Written::Done => Ok(Written::Changed),
        other => Ok(other),
    }
}

/// The side to overwrite. `times` are the last write times in seconds; 0 if there is no item.
fn gives_way(before: Option<&Base>, now: &Base, times: (u64, u64), origin: Which) -> Which {
    let Some(before) = before else {
        let is_new_in_target = origin == Which::Target && now.source.items == 0;
        return if is_new_in_target { Which::Source } else { Which::Target };
    };
    match (is_ours(before, now, Which::Source), is_ours(before, now, Which::Target)) {
        (true, true) => before.pending.as_ref().map_or(Which::Target, |pending| pending.to),
        (false, true) => Which::Target,
        (true, false) => Which::Source,
        (false, false) if times.1 > times.0 => Which::Source,
        (false, false) => Which::Target,
    }
}

/// Whether only the migration wrote a side since the last agreement.
fn is_ours(before: &Base, now: &Base, which: Which) -> bool {
    let is_on_the_way = |pending: &Pending| pending.to == which && pending.path.contains(&now.of(which).hash);
    now.of(which) == before.of(which) || before.pending.as_ref().is_some_and(is_on_the_way)
}

fn newest(items: &Items) -> u64 {
    let seconds = |item: &Value| item.member("_ts").to_json().parse::<u64>().unwrap_or_default();
    items.values().map(|stored| seconds(&stored.item)).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_migration::Sum;

    fn base(source: u128, target: u128) -> Base {
        let sum = |hash| Sum { items: u64::from(hash != 0), hash };
        Base::agreed(sum(source), sum(target))
    }

    fn pending(source: u128, target: u128, to: Which, path: &[u128]) -> Option<Base> {
        Some(Base { pending: Some(Pending { to, path: path.to_vec() }), ..base(source, target) })
    }

    fn check(before: Option<Base>, now: Base, times: (u64, u64), origin: Which, expected: Which) {
        assert_eq!(gives_way(before.as_ref(), &now, times, origin), expected, "{before:?} {now:?}");
    }

    #[test]
    fn the_side_that_changed_since_the_last_agreement_is_followed() {
        let before = Some(base(1, 2));
        check(before.clone(), base(9, 2), (0, 5), Which::Target, Which::Target);
        check(before.clone(), base(1, 9), (5, 0), Which::Source, Which::Source);
        check(before.clone(), base(0, 2), (0, 5), Which::Target, Which::Target);
        check(before.clone(), base(1, 0), (5, 0), Which::Source, Which::Source);
        check(before, base(1, 2), (5, 9), Which::Target, Which::Target);
    }

    #[test]
    fn if_both_changed_the_later_one_wins_and_a_change_wins_over_a_deletion() {
        let before = Some(base(1, 2));
        check(before.clone(), base(8, 9), (5, 6), Which::Source, Which::Source);
        check(before.clone(), base(8, 9), (6, 6), Which::Target, Which::Target);
        check(before.clone(), base(0, 9), (0, 6), Which::Source, Which::Source);
        check(before, base(8, 0), (6, 0), Which::Target, Which::Target);
    }

    #[test]
    fn before_any_agreement_the_source_rules_but_over_what_only_the_target_has() {
        check(None, base(1, 2), (1, 9), Which::Target, Which::Target);
        check(None, base(0, 2), (0, 9), Which::Source, Which::Target);
        check(None, base(0, 2), (0, 9), Which::Target, Which::Source);
    }

    #[test]
    fn a_write_that_was_broken_off_is_known_from_the_writes_of_others() {
        let begun = || pending(1, 2, Which::Target, &[5, 6, 2]);
        for on_the_way in [5, 6] {
            check(begun(), base(1, on_the_way), (1, 9), Which::Source, Which::Target);
        }
        // It was done, and the source went on.
        check(begun(), base(7, 2), (1, 9), Which::Target, Which::Target);
        // Somebody else overwrote it.
        check(begun(), base(1, 8), (1, 9), Which::Source, Which::Source);
        let back = || pending(1, 2, Which::Source, &[5, 1]);
        check(back(), base(5, 2), (9, 1), Which::Source, Which::Source);
        check(back(), base(8, 2), (9, 1), Which::Target, Which::Target);
    }
}
