//! `ORDER BY RANK`: one score, or several combined by reciprocal rank fusion.

use super::Binder;
use super::bound::{Builtin, Expr, Rank, Score};
use crate::datum::Datum;
use crate::error::{Complaint, QueryError};
use crate::functions::full_text::Term;
use crate::parse::{self, ExprKind, Name};
use orrery_value::Value;

impl Binder<'_> {
    pub(super) fn rank(&mut self, expr: &parse::Expr) -> Result<Rank, QueryError> {
        match &expr.kind {
            ExprKind::Call { name, udf: false, args } if is(name, "RRF") => self.fusion(expr, args),
            _ => Ok(Rank { scores: vec![self.score(expr)?], weights: Vec::new() }),
        }
    }

    /// `RRF(score, score, … [, [weights]])`
    fn fusion(&mut self, whole: &parse::Expr, args: &[parse::Expr]) -> Result<Rank, QueryError> {
        let refuse = |message: &str| Complaint::new("SC2242", whole.at, message);
        let (args, weights) = match args.split_last() {
            Some((last, rest)) if !is_score(last) => (rest, Some(self.weights(last)?)),
            _ => (args, None),
        };
        if args.len() < 2 {
            return Err(refuse(
                "The RRF function requires at least two scores: FullTextScore or VectorDistance.",
            )
            .into());
        }
        let scores = args.iter().map(|arg| self.score(arg)).collect::<Result<Vec<_>, _>>()?;
        let weights = weights.unwrap_or_else(|| vec![1.0; scores.len()]);
        if weights.len() != scores.len() {
            return Err(refuse("The RRF function requires as many weights as scores.").into());
        }
        Ok(Rank { scores, weights })
    }

    fn weights(&mut self, expr: &parse::Expr) -> Result<Vec<f64>, QueryError> {
        let refused = || {
            Complaint::new("SC2242", expr.at, "The weights of the RRF function must be an array of numbers.")
        };
        let numbers = match self.expr(expr)? {
            Expr::Constant(Value::Array(items)) => items,
            Expr::Array(items) => items.iter().filter_map(constant_number).collect(),
            _ => return Err(refused().into()),
        };
        let numbers = numbers.iter().map(|item| match item {
            Value::Number(number) => Some(number.as_f64()),
            _ => None,
        });
        Ok(numbers.collect::<Option<Vec<_>>>().ok_or_else(refused)?)
    }

    fn score(&mut self, expr: &parse::Expr) -> Result<Score, QueryError> {
        let refused = || {
            Complaint::new(
                "SC2243",
                expr.at,
                "ORDER BY RANK takes FullTextScore, VectorDistance or RRF of these.",
            )
        };
        let ExprKind::Call { name, udf: false, args } = &expr.kind else { return Err(refused().into()) };
        if is(name, "VectorDistance") || name.text.starts_with('_') {
            let bound = self.expr(expr)?;
            let descending = best_first(&bound).unwrap_or(true);
            return Ok(Score::Own { expr: bound, descending });
        }
        if !is(name, "FullTextScore") {
            return Err(refused().into());
        }
        let [text, terms @ ..] = &args[..] else { return Err(refused().into()) };
        let text = self.expr(text)?;
        let terms =
            self.list(terms)?.iter().map(term).collect::<Option<Vec<_>>>().map(|terms| terms.concat());
        let terms = terms.filter(|terms| !terms.is_empty()).ok_or_else(|| {
            Complaint::new("SC2244", expr.at, "The terms of FullTextScore must be strings, or objects with a term and a distance, as literals or parameters.")
        })?;
        Ok(Score::FullText { text, terms })
    }
}

fn is(name: &Name, wanted: &str) -> bool {
    name.text.eq_ignore_ascii_case(wanted)
}

fn is_score(expr: &parse::Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { udf: false, .. })
}

fn constant_number(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Constant(value) => Some(value.clone()),
        Expr::Unary(parse::UnaryOp::Minus, inner) => match inner.as_constant()? {
            Value::Number(number) => Some(Value::from(-number.as_f64())),
            _ => None,
        },
        _ => None,
    }
}

/// A term argument: a string, an object with a string, or an array of either.
fn term(expr: &Expr) -> Option<Vec<Value>> {
    match expr {
        Expr::Constant(Value::Array(items)) => items.iter().map(|item| one_term(item.clone())).collect(),
        Expr::Array(items) => items.iter().map(|item| one_term(constant(item)?)).collect(),
        other => one_term(constant(other)?).map(|term| vec![term]),
    }
}

fn one_term(value: Value) -> Option<Value> {
    Term::read(&Datum::of(&value)).is_some().then_some(value)
}

/// The value of a literal.
fn constant(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Constant(value) => Some(value.clone()),
        Expr::Object(members) => {
            let members = members.iter().map(|(name, value)| Some((name.clone(), constant(value)?)));
            members.collect::<Option<Vec<_>>>().map(Value::Object)
        }
        _ => None,
    }
}

/// The sort direction that puts the best score first, if the expression is a score.
pub(super) fn best_first(expr: &Expr) -> Option<bool> {
    match expr {
        Expr::Call(function, _) if function.0.name.eq_ignore_ascii_case("VectorDistance") => {
            Some(!is_euclidean(expr))
        }
        _ => None,
    }
}

/// Euclidean distances are better when smaller, the other measures when greater.
fn is_euclidean(expr: &Expr) -> bool {
    let Expr::Call(_, args) = expr else { return false };
    let name = match args.get(3) {
        Some(Expr::Constant(options)) => options.member("distanceFunction").clone(),
        Some(Expr::Object(members)) => {
            let found = members.iter().find(|(name, _)| name == "distanceFunction");
            found.and_then(|(_, value)| value.as_constant()).cloned().unwrap_or_default()
        }
        _ => return false,
    };
    matches!(name, Value::String(name) if name.eq_ignore_ascii_case("euclidean"))
}

// `VectorDistance` over a path of the container's vector policy: the policy's settings apply unless the query
// overrides them.

impl Binder<'_> {
    /// Adds the policy's distance function to a call that names none.
    pub(super) fn with_policy(&self, function: Builtin, mut args: Vec<Expr>) -> Expr {
        let is_distance = ["VectorDistance", "_VectorScore"].contains(&function.0.name);
        let policy = self.settings.vectors.iter();
        let named = |arg: &Expr| policy.clone().find(|(path, _)| path_of(arg).as_deref() == Some(path));
        let distance = args.iter().take(2).find_map(named).map(|(_, distance)| *distance);
        if let (true, Some(distance), 2..=3) = (is_distance, distance, args.len()) {
            args.resize(3, Expr::Constant(Value::Undefined));
            let name = Value::String(distance.name().to_owned());
            args.push(Expr::Constant(Value::Object(vec![("distanceFunction".to_owned(), name)])));
        }
        Expr::Call(function, args)
    }
}

/// The member names after the alias.
fn path_of(expr: &Expr) -> Option<Vec<String>> {
    match expr {
        Expr::Slot(_) => Some(Vec::new()),
        Expr::Member(of, name) => {
            let mut path = path_of(of)?;
            path.push(name.clone());
            Some(path)
        }
        _ => None,
    }
}
