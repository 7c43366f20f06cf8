//! Runs a migration from its start, or from where it stopped, until there are no new changes.

use super::changes::{From, Page};
use super::record::{Containers, Marks, Phase, RunRecord};
use super::state::{self, RangeState, RunState, Stage};
use super::streams::{Ended, drive};
use super::world::{Which, World};
use crate::limits;
use orrery_migration::Shape;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

pub struct Run {
    world: Arc<World>,
    state: RunState,
    workers: usize,
    ranges: Vec<RangeState>,
}

/// Whether this is the migration in progress.
fn may_go_on(world: &World, run: &RunRecord, reopen: bool) -> Result<(), String> {
    let name = &world.plan.name;
    if run.plan != world.plan.fingerprint {
        return Err(format!(
            "a migration '{name}' was begun with a plan that said something else; go on with that one, or name this one differently"
        ));
    }
    match run.phase {
        Phase::Cleaned => Err(format!("'{name}' is finished and its old containers are dropped")),
        Phase::Finished { .. } if !reopen && !world.is_both => Err(format!(
            "'{name}' is finished, and its target may be newer than its source by now; --reopen makes it like the source again"
        )),
        Phase::Copying | Phase::Following | Phase::Finished { .. } if run.is_both && !world.is_both => {
            Err(format!("'{name}' has writes on both sides; go on with --dual-write both"))
        }
        Phase::Copying | Phase::Following | Phase::Finished { .. } => Ok(()),
    }
}

/// The containers of a side that a plan reads; those of parts alone are not copied but only followed.
pub fn containers(world: &World, which: Which) -> Result<Vec<(String, bool)>, String> {
    let rules = &world.plan_from(which)?.rules;
    let roots: BTreeSet<&String> = rules.iter().map(|rule| &rule.from).collect();
    let parts: BTreeSet<&String> = rules
        .iter()
        .filter_map(|rule| match &rule.shape {
            Shape::Join(split) => Some(&split.container),
            _ => None,
        })
        .collect();
    let parts = parts.difference(&roots).map(|name| ((*name).clone(), false)).collect::<Vec<_>>();
    Ok(roots.into_iter().map(|name| (name.clone(), true)).chain(parts).collect())
}

impl Run {
    /// Creates what is missing in the target, and loads the state of an earlier run.
    pub async fn open(world: Arc<World>, workers: usize, reopen: bool) -> Result<Self, String> {
        let known = RunState::read(&world).await?;
        if let Some(run) = &known {
            may_go_on(&world, &run.record, reopen)?;
        }
        let source = world.database(Which::Source);
        for (name, _) in containers(&world, Which::Source)? {
            if source.definition(&name).await?.is_none() {
                return Err(format!(
                    "the container '{name}' is not in the database '{}'; make it first, as with orrery apply",
                    source.name
                ));
            }
        }
        let target = world.database(Which::Target);
        target.make().await?;
        for container in &world.plan.target.containers {
            target.make_container(container).await?;
        }
        state::make(&world).await?;
        let is_resumed = known.as_ref().is_some_and(|run| !world.is_both || run.record.is_both);
        let mut state = match known {
            Some(state) if is_resumed => state,
            known => {
                let record = RunRecord {
                    phase: Phase::Copying,
                    plan: world.plan.fingerprint,
                    is_both: world.is_both,
                    marks: take_marks(&world).await?,
                };
                match known {
                    None => RunState::new(record),
                    Some(known) => known.with(record),
                }
            }
        };
        // Written by us from now on, and so is every range below: whoever had them before finds out.
        state.save(&world).await?;
        let mut run = Self { world, state, workers, ranges: Vec::new() };
        run.ranges = run.find_ranges(Which::Source, is_resumed).await?;
        if run.world.is_both {
            let more = run.find_ranges(Which::Target, is_resumed).await?;
            run.ranges.extend(more);
        }
        Ok(run)
    }

    /// The ranges as they are now. One that is new goes on where the one it was part of has been.
    async fn find_ranges(&self, which: Which, is_resumed: bool) -> Result<Vec<RangeState>, String> {
        let mut found = Vec::new();
        for (container, is_copied) in containers(&self.world, which)? {
            for (range, parents) in self.world.database(which).ranges(&container).await? {
                let known = RangeState::known(&self.world, which, &container, (&range, &parents)).await?;
                let first = || self.first_stage(which, &container, is_copied);
                let mut state = known.unwrap_or_else(|| RangeState::new(which, &container, &range, first()));
                if !is_resumed {
                    state.stage = first();
                }
                state.save(&self.world).await?;
                found.push(state);
            }
        }
        Ok(found)
    }

    fn first_stage(&self, which: Which, container: &str, is_copied: bool) -> Stage {
        match self.state.record.marks.of(which, container) {
            Some(mark) if which == Which::Target || !is_copied => {
                Stage::Follow { position: mark.to_owned(), has_deletes: true }
            }
            _ => Stage::Copy { position: None },
        }
    }

    pub async fn enter(&mut self, phase: Phase) -> Result<(), String> {
        self.state.enter(&self.world, phase).await
    }

    /// Everything up to now; says how many changes there were. The source comes first: what is new in
    /// the target is judged when the source's own news are known.
    pub async fn round(&mut self) -> Result<u64, String> {
        let mut seen = self.side(Which::Source).await?;
        if self.world.is_both {
            seen += self.side(Which::Target).await?;
        }
        Ok(seen)
    }

    async fn side(&mut self, which: Which) -> Result<u64, String> {
        let mut seen = 0;
        loop {
            let ended = self.drive_all(which).await?;
            if ended.contains(&Ended::Forgotten) {
                self.state.record.marks = take_marks(&self.world).await?;
                self.state.save(&self.world).await?;
                self.again(which, false).await?;
            } else if ended.contains(&Ended::Split) {
                self.again(which, true).await?;
            } else {
                seen += ended
                    .iter()
                    .map(|ended| if let Ended::Idle { changes } = ended { *changes } else { 0 })
                    .sum::<u64>();
                return Ok(seen);
            }
        }
    }

    /// Follows until nothing is new, as far as that comes to an end, and writes down where every range is: whatever is found after
    /// these positions was written after the migration was finished.
    pub async fn settle(&mut self) -> Result<(), String> {
        for _ in 0..limits::MIGRATION_ROUNDS_MAX {
            if self.round().await? == 0 {
                break;
            }
        }
        for range in &mut self.ranges {
            range.save(&self.world).await?;
        }
        Ok(())
    }

    async fn again(&mut self, which: Which, is_resumed: bool) -> Result<(), String> {
        self.ranges.retain(|range| range.which != which);
        let found = self.find_ranges(which, is_resumed).await?;
        self.ranges.extend(found);
        Ok(())
    }

    async fn drive_all(&mut self, which: Which) -> Result<Vec<Ended>, String> {
        let (these, others) =
            std::mem::take(&mut self.ranges).into_iter().partition(|range| range.which == which);
        self.ranges = others;
        let these: Vec<RangeState> = these;
        let slots = Arc::new(Semaphore::new(self.workers));
        let mut running = JoinSet::new();
        for mut range in these {
            let (world, slots) = (self.world.clone(), slots.clone());
            let mark = self.state.record.marks.of(which, &range.container).map(str::to_owned);
            running.spawn(async move {
                let _slot = slots.acquire_owned().await.map_err(|error| error.to_string())?;
                let ended = drive(&world, &mut range, mark.as_deref()).await?;
                Ok::<_, String>((range, ended))
            });
        }
        let mut all = Vec::new();
        while let Some(ended) = running.join_next().await {
            let (range, ended) =
                ended.map_err(|error| format!("a part of the migration failed: {error}"))??;
            self.ranges.push(range);
            all.push(ended);
        }
        Ok(all)
    }
}

/// Where each container is now, before anything is read: what changes from here on is followed.
async fn take_marks(world: &World) -> Result<Marks, String> {
    let source = marks_of(world, Which::Source).await?;
    let target = if world.is_both { marks_of(world, Which::Target).await? } else { Containers::new() };
    Ok(Marks { source, target })
}

async fn marks_of(world: &World, which: Which) -> Result<Containers, String> {
    let mut marks = Containers::new();
    for (container, _) in containers(world, which)? {
        let page = world.database(which).changes(&container, None, From::Versions("*")).await?;
        let mark = match page {
            Page::Changes { position, .. } => Some(position),
            Page::Forgotten | Page::Split if which == Which::Source => None,
            Page::Forgotten | Page::Split => {
                return Err(format!(
                    "the container '{container}' keeps no deletes (changeFeedPolicy), which --dual-write both needs"
                ));
            }
        };
        marks.insert(container, mark);
    }
    Ok(marks)
}
