//! `ORDER BY RANK`: statistics of all ranges, the best rows per score, and rank fusion.

use super::super::info::{Direction, HybridSearchInfo, QueryInfo};
use super::pipeline::{BufferedBytes, Output, Pipeline};
use super::sources::compare;
use super::{Next, elements, not_understood, number};
use crate::error::QueryError;
use orrery_value::Value;
use std::collections::{BTreeMap, VecDeque};

const PLACEHOLDER: &str = "{documentdb-formattablehybridsearchquery-";
/// The constant of reciprocal rank fusion, as in the SDKs.
const RANK_CONSTANT: f64 = 60.0;

pub(super) struct Hybrid {
    info: HybridSearchInfo,
    ranges: usize,
    stage: Stage,
    statistics: Vec<Value>,
    /// By resource id, without duplicates.
    rows: BTreeMap<Value, usize>,
    found: Vec<Value>,
    buffered: BufferedBytes,
}

enum Stage {
    Statistics(Box<Pipeline>),
    Component(usize, Box<Pipeline>),
    Rows(VecDeque<Value>),
}

impl Hybrid {
    pub(super) fn new(info: &HybridSearchInfo, ranges: usize) -> Self {
        let mut hybrid = Self {
            info: info.clone(),
            ranges,
            stage: Stage::Rows(VecDeque::new()),
            statistics: Vec::new(),
            rows: BTreeMap::new(),
            found: Vec::new(),
            buffered: BufferedBytes::default(),
        };
        hybrid.stage = if info.requires_global_statistics {
            let (info, text) = (QueryInfo::default(), &info.global_statistics_query);
            Stage::Statistics(Box::new(Pipeline::new(&info, text, ranges, Output::Whole)))
        } else {
            hybrid.component(0).unwrap_or_else(|| Stage::Rows(VecDeque::new()))
        };
        hybrid
    }

    pub(super) fn accept(&mut self, range: usize, rows: Vec<Value>, continuation: Option<String>) {
        match &mut self.stage {
            Stage::Statistics(pipeline) | Stage::Component(_, pipeline) => {
                pipeline.accept(range, rows, continuation);
            }
            Stage::Rows(_) => {}
        }
    }

    pub(super) fn next(&mut self) -> Result<Next, QueryError> {
        loop {
            let next = match &mut self.stage {
                Stage::Statistics(pipeline) | Stage::Component(_, pipeline) => pipeline.next()?,
                Stage::Rows(rows) => return Ok(rows.pop_front().map_or(Next::End, Next::Row)),
            };
            match next {
                Next::Row(row) => self.take(row)?,
                Next::End => self.stage = self.next_stage()?,
                fetch @ Next::Fetch { .. } => return Ok(fetch),
            }
        }
    }

    fn take(&mut self, row: Value) -> Result<(), QueryError> {
        if matches!(self.stage, Stage::Statistics(_)) {
            self.statistics.push(row);
            return Ok(());
        }
        let rid = row.member("_rid").clone();
        if let std::collections::btree_map::Entry::Vacant(vacant) = self.rows.entry(rid) {
            self.buffered.add(&row)?;
            vacant.insert(self.found.len());
            self.found.push(row);
        }
        Ok(())
    }

    fn next_stage(&mut self) -> Result<Stage, QueryError> {
        let next = match &self.stage {
            Stage::Statistics(_) => 0,
            Stage::Component(index, _) => index + 1,
            Stage::Rows(_) => usize::MAX,
        };
        match self.component(next) {
            Some(stage) => Ok(stage),
            None => Ok(Stage::Rows(self.ranked()?)),
        }
    }

    fn component(&self, index: usize) -> Option<Stage> {
        let component = self.info.component_query_infos.get(index)?;
        let rewritten_query = fill(&component.rewritten_query, &self.statistics);
        let info = QueryInfo { rewritten_query, ..component.clone() };
        Some(Stage::Component(index, Box::new(Pipeline::new(&info, "", self.ranges, Output::Whole))))
    }

    /// The payloads, best first.
    fn ranked(&mut self) -> Result<VecDeque<Value>, QueryError> {
        let is_fused = self.info.component_query_infos.len() > 1;
        let mut order: Vec<usize> = self.rows.values().copied().collect();
        if let (false, Some(component)) = (is_fused, self.info.component_query_infos.first()) {
            order.sort_by(|a, b| compare(&self.found[*a], &self.found[*b], &component.order_by));
        }
        let rows = order.into_iter().map(|at| scored(&self.found[at]));
        let rows: Vec<(Value, Vec<f64>)> = rows.collect::<Result<_, _>>()?;
        let order = if is_fused { fused(&rows, &self.info) } else { (0..rows.len()).collect() };
        let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let (skip, take) = (self.info.skip.map_or(0, size), self.info.take.map_or(usize::MAX, size));
        Ok(order.into_iter().skip(skip).take(take).map(|row| rows[row].0.clone()).collect())
    }
}

/// The query text with its placeholders replaced by the statistics of all ranges.
fn fill(text: &str, ranges: &[Value]) -> String {
    let add = |values: &mut dyn Iterator<Item = &Value>| values.filter_map(number).sum::<f64>().to_string();
    let documents = add(&mut ranges.iter().map(|range| range.member("documentCount")));
    let mut text = text.replace(&format!("{PLACEHOLDER}totaldocumentcount}}"), &documents);
    let of = |range: &'_ Value, index: usize| {
        elements(range.member("fullTextStatistics")).get(index).cloned().unwrap_or_default()
    };
    let texts = ranges.first().map_or(0, |range| elements(range.member("fullTextStatistics")).len());
    for index in 0..texts {
        let all: Vec<Value> = ranges.iter().map(|range| of(range, index)).collect();
        let words = add(&mut all.iter().map(|it| it.member("totalWordCount")));
        let terms = all.first().map_or(0, |it| elements(it.member("hitCounts")).len());
        let hit =
            |term: usize| add(&mut all.iter().filter_map(|it| elements(it.member("hitCounts")).get(term)));
        let hits: Vec<String> = (0..terms).map(hit).collect();
        text = text.replace(&format!("{PLACEHOLDER}totalwordcount-{index}}}"), &words);
        text =
            text.replace(&format!("{PLACEHOLDER}hitcountsarray-{index}}}"), &format!("[{}]", hits.join(",")));
    }
    text
}

/// A row's payload and scores, in either form of the plan.
fn scored(row: &Value) -> Result<(Value, Vec<f64>), QueryError> {
    let inner = row.member("payload").member("payload");
    let (payload, scores) = match inner {
        Value::Undefined => (row.member("payload"), row.member("componentScores")),
        inner => (inner, row.member("payload").member("componentScores")),
    };
    if payload.is_undefined() {
        return Err(not_understood(row));
    }
    Ok((payload.clone(), elements(scores).iter().filter_map(number).collect()))
}

/// The rows by the sum of their reciprocal ranks, best first; equal scores share a rank.
fn fused(rows: &[(Value, Vec<f64>)], info: &HybridSearchInfo) -> Vec<usize> {
    let mut fused = vec![0.0; rows.len()];
    for (index, component) in info.component_query_infos.iter().enumerate() {
        let score = |row: usize| rows[row].1.get(index).copied().unwrap_or(f64::NEG_INFINITY);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|a, b| score(*a).total_cmp(&score(*b)));
        if component.order_by.first() != Some(&Direction::Ascending) {
            order.reverse();
        }
        let weight = info.component_weights.get(index).copied().unwrap_or(1.0);
        let mut rank = 1.0;
        for (place, row) in order.iter().enumerate() {
            if place > 0 && score(*row) != score(order[place - 1]) {
                rank += 1.0;
            }
            fused[*row] += weight / (RANK_CONSTANT + rank);
        }
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| fused[*b].total_cmp(&fused[*a]));
    order
}
