//! A backtracking machine for patterns with look-around or back-references.
//!
//! It runs the programs that `fancy-regex` compiles. Pending alternatives are on a stack of branches; the
//! values that a branch must restore are on a trail. Every instruction is a step of the [`Meter`].

use super::meter::{Meter, Stop};
use crate::limits;
use fancy_regex::Assertion;
use fancy_regex::internal::Insn;
use regex_automata::util::look::LookMatcher;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input, meta};
use std::ops::Range;

/// The slot holds no value.
const UNSET: usize = usize::MAX;
/// Bytes that one step compares or passes.
const BYTES_PER_STEP: usize = 64;

pub struct Program {
    body: Vec<Insn>,
    /// The number of values that the instructions save.
    slots: usize,
}

/// Where to find a group among the slots of a match.
pub fn group(saves: &[usize], group: usize) -> Option<Range<usize>> {
    let (start, end) = (*saves.get(2 * group)?, *saves.get(2 * group + 1)?);
    (start != UNSET && end != UNSET).then_some(start..end)
}

impl Program {
    pub fn new(body: Vec<Insn>) -> Self {
        let slots = body.iter().map(slots_of).max().unwrap_or(0).max(2);
        Self { body, slots }
    }

    /// The slots of the first match at or after `from`.
    pub fn run(
        &self,
        text: &str,
        from: usize,
        is_after_empty: bool,
        meter: &Meter<'_>,
    ) -> Result<Option<Vec<usize>>, Stop> {
        let state = State::new(self.slots);
        Machine { text, from, is_after_empty, meter, look: LookMatcher::new(), state }.run(&self.body)
    }
}

fn slots_of(instruction: &Insn) -> usize {
    match instruction {
        Insn::Save(slot) | Insn::Save0(slot) | Insn::Restore(slot) => slot + 1,
        Insn::RepeatGr { repeat, .. } | Insn::RepeatNg { repeat, .. } => repeat + 1,
        Insn::RepeatEpsilonGr { repeat, check, .. } | Insn::RepeatEpsilonNg { repeat, check, .. } => {
            repeat.max(check) + 1
        }
        Insn::Backref { slot, .. } => slot + 2,
        Insn::BackrefExistsCondition(group) => 2 * group + 2,
        Insn::Delegate(delegate) => 2 * delegate.end_group,
        _ => 0,
    }
}

/// Where an alternative continues, and the length of the trail at that point.
struct Branch {
    pc: usize,
    at: usize,
    trail: usize,
}

struct State {
    /// The slots, then the depth of a stack, then that stack: the branches at which atomic groups
    /// began.
    saves: Vec<usize>,
    slots: usize,
    branches: Vec<Branch>,
    trail: Vec<(usize, usize)>,
}

impl State {
    fn new(slots: usize) -> Self {
        let mut saves = vec![UNSET; slots];
        saves.push(0);
        Self { saves, slots, branches: Vec::new(), trail: Vec::new() }
    }

    fn get(&self, slot: usize) -> usize {
        self.saves[slot]
    }

    fn save(&mut self, slot: usize, value: usize) -> Result<(), Stop> {
        let old = std::mem::replace(&mut self.saves[slot], value);
        if !self.branches.is_empty() {
            self.trail.push((slot, old));
            self.check_size()?;
        }
        Ok(())
    }

    fn branch(&mut self, pc: usize, at: usize) -> Result<(), Stop> {
        self.branches.push(Branch { pc, at, trail: self.trail.len() });
        self.check_size()
    }

    fn check_size(&self) -> Result<(), Stop> {
        let bytes =
            self.branches.len() * size_of::<Branch>() + self.trail.len() * size_of::<(usize, usize)>();
        if bytes > limits::REGEX_STACK_BYTES_MAX { Err(Stop::TooMuchMemory) } else { Ok(()) }
    }

    /// Backtracks to the last branch.
    fn back(&mut self) -> Option<(usize, usize)> {
        let Branch { pc, at, trail } = self.branches.pop()?;
        for (slot, old) in self.trail.drain(trail..).rev() {
            self.saves[slot] = old;
        }
        Some((pc, at))
    }

    fn begin_atomic(&mut self) -> Result<(), Stop> {
        let depth = self.get(self.slots);
        let place = self.slots + 1 + depth;
        if self.saves.len() == place {
            self.saves.push(UNSET);
        }
        self.save(place, self.branches.len())?;
        self.save(self.slots, depth + 1)
    }

    /// Discards the alternatives inside the group. Their saved values stay on the trail, for earlier
    /// branches.
    fn end_atomic(&mut self) -> Result<(), Stop> {
        let depth = self.get(self.slots).saturating_sub(1);
        let branches = self.get(self.slots + 1 + depth);
        self.save(self.slots, depth)?;
        self.branches.truncate(branches);
        if self.branches.is_empty() {
            self.trail.clear();
        }
        Ok(())
    }
}

/// The effect of an instruction.
enum Next {
    Instruction,
    To(usize),
    Fail,
    ScannedDocument,
}

struct Machine<'a> {
    text: &'a str,
    from: usize,
    is_after_empty: bool,
    meter: &'a Meter<'a>,
    look: LookMatcher,
    state: State,
}

impl Machine<'_> {
    fn run(mut self, body: &[Insn]) -> Result<Option<Vec<usize>>, Stop> {
        let (mut pc, mut at) = (0, self.from);
        loop {
            self.meter.step(1)?;
            match self.take(&body[pc], pc, &mut at)? {
                Next::Instruction => pc += 1,
                Next::To(next) => pc = next,
                Next::ScannedDocument => return Ok(Some(self.found())),
                Next::Fail => match self.state.back() {
                    Some(branch) => (pc, at) = branch,
                    None => return Ok(None),
                },
            }
        }
    }

    /// `\K` may put the start of a match after its end.
    fn found(self) -> Vec<usize> {
        let mut saves = self.state.saves;
        saves.truncate(self.state.slots);
        saves[0] = saves[0].min(saves[1]);
        saves
    }

    fn take(&mut self, instruction: &Insn, pc: usize, at: &mut usize) -> Result<Next, Stop> {
        let matched = match *instruction {
            Insn::End => return Ok(Next::ScannedDocument),
            Insn::Any => self.character(at, true),
            Insn::AnyNoNL => self.character(at, false),
            Insn::Lit(ref literal) => self.literal(literal, at)?,
            Insn::Assertion(assertion) => self.assertion(assertion, *at),
            Insn::Split(first, second) => {
                self.state.branch(second, *at)?;
                return Ok(Next::To(first));
            }
            Insn::Jmp(to) => return Ok(Next::To(to)),
            Insn::Save(slot) => self.save(slot, *at)?,
            Insn::Save0(slot) => self.save(slot, 0)?,
            Insn::Restore(slot) => {
                *at = self.state.get(slot);
                true
            }
            Insn::RepeatGr { lo, hi, next, repeat } => {
                let count = self.state.get(repeat);
                if count == hi {
                    return Ok(Next::To(next));
                }
                self.state.save(repeat, count + 1)?;
                if count >= lo {
                    self.state.branch(next, *at)?;
                }
                true
            }
            Insn::RepeatNg { lo, hi, next, repeat } => {
                let count = self.state.get(repeat);
                if count == hi {
                    return Ok(Next::To(next));
                }
                self.state.save(repeat, count + 1)?;
                if count >= lo {
                    self.state.branch(pc + 1, *at)?;
                    return Ok(Next::To(next));
                }
                true
            }
            Insn::RepeatEpsilonGr { lo, next, repeat, check } => {
                let count = self.state.get(repeat);
                if count > 0 && self.state.get(check) == *at {
                    return Ok(Next::To(next));
                }
                self.state.save(repeat, count + 1)?;
                if count >= lo {
                    self.state.save(check, *at)?;
                    self.state.branch(next, *at)?;
                }
                true
            }
            Insn::RepeatEpsilonNg { lo, next, repeat, check } => {
                let count = self.state.get(repeat);
                if count > 0 && self.state.get(check) == *at {
                    return Ok(Next::To(next));
                }
                self.state.save(repeat, count + 1)?;
                if count >= lo {
                    self.state.save(check, *at)?;
                    self.state.branch(pc + 1, *at)?;
                    return Ok(Next::To(next));
                }
                true
            }
            Insn::FailNegativeLookAround => {
                // The branches of the look-around itself are discarded; the last of them continues
                // after it.
                while let Some((branch, _)) = self.state.back()
                    && branch != pc + 1
                {
                    self.meter.step(1)?;
                }
                false
            }
            Insn::GoBack(characters) => self.go_back(characters, at)?,
            Insn::Backref { slot, casei } => self.back_reference(slot, casei, at)?,
            Insn::BackrefExistsCondition(group) => self.state.get(2 * group) != UNSET,
            Insn::BeginAtomic => {
                self.state.begin_atomic()?;
                true
            }
            Insn::EndAtomic => {
                self.state.end_atomic()?;
                true
            }
            Insn::Delegate(ref part) => self.automaton(&part.inner, part.start_group, part.end_group, at)?,
            Insn::ContinueFromPreviousMatchEnd => *at <= self.from && !self.is_after_empty,
        };
        Ok(if matched { Next::Instruction } else { Next::Fail })
    }

    fn save(&mut self, slot: usize, value: usize) -> Result<bool, Stop> {
        self.state.save(slot, value)?;
        Ok(true)
    }

    fn character(&self, at: &mut usize, with_newline: bool) -> bool {
        match self.text[*at..].chars().next() {
            Some('\n') if !with_newline => false,
            Some(character) => {
                *at += character.len_utf8();
                true
            }
            None => false,
        }
    }

    fn literal(&self, literal: &str, at: &mut usize) -> Result<bool, Stop> {
        self.meter.step((literal.len() / BYTES_PER_STEP) as u64)?;
        let is_there = self.text.as_bytes()[*at..].starts_with(literal.as_bytes());
        if is_there {
            *at += literal.len();
        }
        Ok(is_there)
    }

    fn assertion(&self, assertion: Assertion, at: usize) -> bool {
        let (look, text) = (&self.look, self.text.as_bytes());
        match assertion {
            Assertion::StartText => look.is_start(text, at),
            Assertion::EndText => look.is_end(text, at),
            Assertion::StartLine { crlf: false } => look.is_start_lf(text, at),
            Assertion::StartLine { crlf: true } => look.is_start_crlf(text, at),
            Assertion::EndLine { crlf: false } => look.is_end_lf(text, at),
            Assertion::EndLine { crlf: true } => look.is_end_crlf(text, at),
            Assertion::LeftWordBoundary => look.is_word_start_unicode(text, at).unwrap_or(false),
            Assertion::RightWordBoundary => look.is_word_end_unicode(text, at).unwrap_or(false),
            Assertion::WordBoundary => look.is_word_unicode(text, at).unwrap_or(false),
            Assertion::NotWordBoundary => look.is_word_unicode_negate(text, at).unwrap_or(false),
        }
    }

    fn go_back(&self, characters: usize, at: &mut usize) -> Result<bool, Stop> {
        self.meter.step(characters as u64)?;
        let mut before = self.text[..*at].char_indices().rev();
        match characters {
            0 => {}
            _ => match before.nth(characters - 1) {
                Some((place, _)) => *at = place,
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    fn back_reference(&self, slot: usize, ignore_case: bool, at: &mut usize) -> Result<bool, Stop> {
        let (start, end) = (self.state.get(slot), self.state.get(slot + 1));
        if start == UNSET || end == UNSET || start > end {
            return Ok(false);
        }
        self.meter.step(((end - start) / BYTES_PER_STEP) as u64)?;
        let earlier = &self.text[start..end];
        let Some(here) = self.text.get(*at..*at + earlier.len()) else { return Ok(false) };
        let is_same = here == earlier || ignore_case && lower(here).eq(lower(earlier));
        if is_same {
            *at += earlier.len();
        }
        Ok(is_same)
    }

    /// A part of the pattern without look-around or back-references, with its groups.
    fn automaton(
        &mut self,
        part: &meta::Regex,
        first_group: usize,
        end_group: usize,
        at: &mut usize,
    ) -> Result<bool, Stop> {
        let input = Input::new(self.text).span(*at..self.text.len()).anchored(Anchored::Yes);
        let groups = end_group - first_group;
        if groups == 0 {
            let found = part.search_half(&input).map(|found| found.offset());
            return self.advance(found, at);
        }
        let mut slots: Vec<Option<NonMaxUsize>> = vec![None; 2 * (groups + 1)];
        part.search_slots(&input, &mut slots);
        let place = |slot: usize| slots.get(slot).copied().flatten().map(NonMaxUsize::get);
        let end = place(1);
        if end.is_some() {
            for slot in 0..2 * groups {
                let value = place(slot + 2).unwrap_or(UNSET);
                self.state.save(2 * first_group + slot, value)?;
            }
        }
        self.advance(end, at)
    }

    /// How far an automaton looked before it failed is unknown.
    fn advance(&self, end: Option<usize>, at: &mut usize) -> Result<bool, Stop> {
        match end {
            None => self.meter.scanned(self.text.len() - *at).map(|()| false),
            Some(end) => {
                self.meter.step(((end - *at) / BYTES_PER_STEP) as u64)?;
                *at = end;
                Ok(true)
            }
        }
    }
}

fn lower(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().flat_map(char::to_lowercase)
}
