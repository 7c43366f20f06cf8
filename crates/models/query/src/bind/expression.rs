//! Binds expressions: names to slots, calls to functions.

use super::bound::{Aggregate, AggregateFunction, Builtin, Expr};
use super::{Binder, unresolved};
use crate::error::{Complaint, QueryError};
use crate::functions;
use crate::parse::{self, BinaryOp, ExprKind, Name, Query};
use orrery_value::Value;
use std::collections::HashSet;

impl Binder<'_> {
    pub(super) fn expr(&mut self, expr: &parse::Expr) -> Result<Expr, QueryError> {
        Ok(match &expr.kind {
            ExprKind::Undefined => Expr::Constant(Value::Undefined),
            ExprKind::Null => Expr::Constant(Value::Null),
            ExprKind::Bool(it) => Expr::Constant(Value::Bool(*it)),
            ExprKind::Number(it) => Expr::Constant(Value::Number(*it)),
            ExprKind::String(it) => Expr::Constant(Value::String(it.clone())),
            ExprKind::Parameter(name) => Expr::Constant(self.parameter(name, expr.at)?.clone()),
            ExprKind::Name(name) => Expr::Slot(self.resolve(name).ok_or_else(|| unresolved(name, expr.at))?),
            ExprKind::Member(of, name) => Expr::Member(self.boxed(of)?, name.clone()),
            ExprKind::Index(of, index) => self.index(of, index)?,
            ExprKind::Unary(op, of) => Expr::Unary(*op, self.boxed(of)?),
            ExprKind::Binary(BinaryOp::And, a, b) => Expr::All(self.chain(BinaryOp::And, a, b)?),
            ExprKind::Binary(BinaryOp::Or, a, b) => Expr::Any(self.chain(BinaryOp::Or, a, b)?),
            ExprKind::Binary(op, a, b) => Expr::Binary(*op, self.boxed(a)?, self.boxed(b)?),
            ExprKind::Conditional(a, b, c) => {
                Expr::Conditional(self.boxed(a)?, self.boxed(b)?, self.boxed(c)?)
            }
            ExprKind::In { value, list, negated } => {
                Expr::In { value: self.boxed(value)?, list: self.list(list)?, negated: *negated }
            }
            ExprKind::Between { value, low, high, negated } => Expr::Between {
                value: self.boxed(value)?,
                low: self.boxed(low)?,
                high: self.boxed(high)?,
                negated: *negated,
            },
            ExprKind::Like { value, pattern, escape, negated } => Expr::Like {
                value: self.boxed(value)?,
                pattern: self.boxed(pattern)?,
                escape: escape.as_ref().map(|escape| self.boxed(escape)).transpose()?,
                negated: *negated,
            },
            ExprKind::Array(list) => Expr::Array(self.list(list)?),
            ExprKind::Object(members) => Expr::Object(self.members(members)?),
            ExprKind::Call { name, udf: true, args } => Expr::Udf(name.text.clone(), self.list(args)?),
            ExprKind::Call { name, udf: false, args } => self.call(name, args)?,
            ExprKind::Subquery(query) => Expr::Subquery(self.subquery(query)?),
            ExprKind::Exists(query) => Expr::Exists(self.subquery(query)?),
            ExprKind::ArrayOf(query) => Expr::ArrayOf(self.subquery(query)?),
        })
    }

    fn boxed(&mut self, expr: &parse::Expr) -> Result<Box<Expr>, QueryError> {
        self.expr(expr).map(Box::new)
    }

    pub(super) fn list(&mut self, list: &[parse::Expr]) -> Result<Vec<Expr>, QueryError> {
        list.iter().map(|expr| self.expr(expr)).collect()
    }

    fn members(&mut self, members: &[(String, parse::Expr)]) -> Result<Vec<(String, Expr)>, QueryError> {
        let mut names = HashSet::new();
        if let Some((name, value)) = members.iter().find(|(name, _)| !names.insert(name)) {
            let message = format!("The object has more than one member named '{name}'.");
            return Err(Complaint::new("SC2012", value.at, message).into());
        }
        members.iter().map(|(name, value)| Ok((name.clone(), self.expr(value)?))).collect()
    }

    fn subquery(&mut self, query: &Query) -> Result<Box<super::bound::Block>, QueryError> {
        self.block(query, false).map(Box::new)
    }

    /// A string in brackets is a member name, even if it comes from a parameter.
    fn index(&mut self, of: &parse::Expr, index: &parse::Expr) -> Result<Expr, QueryError> {
        let of = self.boxed(of)?;
        Ok(match self.expr(index)? {
            Expr::Constant(Value::String(name)) => Expr::Member(of, name),
            index => Expr::Index(of, Box::new(index)),
        })
    }

    /// The terms of a chain of one operator, in order, however they were nested.
    fn chain(&mut self, op: BinaryOp, a: &parse::Expr, b: &parse::Expr) -> Result<Vec<Expr>, QueryError> {
        let mut terms = Vec::new();
        for side in [a, b] {
            match self.expr(side)? {
                Expr::All(inner) if op == BinaryOp::And => terms.extend(inner),
                Expr::Any(inner) if op == BinaryOp::Or => terms.extend(inner),
                term => terms.push(term),
            }
        }
        Ok(terms)
    }

    fn call(&mut self, name: &Name, args: &[parse::Expr]) -> Result<Expr, QueryError> {
        if let Some(function) = AggregateFunction::find(&name.text) {
            return self.aggregate(function, name, args);
        }
        if ["FULLTEXTSCORE", "RRF"].iter().any(|known| known.eq_ignore_ascii_case(&name.text)) {
            let message = format!("The {} function is only allowed in an ORDER BY RANK clause.", name.text);
            return Err(Complaint::new("SC2241", name.at, message).into());
        }
        let function = functions::find(&name.text).ok_or_else(|| {
            let message = format!("'{}' is not a recognized built-in function name.", name.text);
            Complaint::new("SC2005", name.at, message)
        })?;
        check_arity(function.name, name, args.len(), function.args_min, function.args_max)?;
        let args = self.list(args)?;
        Ok(self.with_policy(Builtin(function), args))
    }

    fn aggregate(
        &mut self,
        function: AggregateFunction,
        name: &Name,
        args: &[parse::Expr],
    ) -> Result<Expr, QueryError> {
        check_arity(function.name(), name, args.len(), 1, 1)?;
        // Removed while the argument is bound, because aggregates do not nest.
        let Some(mut collected) = self.collected.take() else {
            let message = format!(
                "The aggregate function {} is only allowed in a SELECT clause, and not inside another aggregate.",
                function.name()
            );
            return Err(Complaint::new("SC2110", name.at, message).into());
        };
        let arg = self.expr(&args[0]);
        let slot = self.new_slot(&format!("#{}", function.name()));
        let found = arg.map(|arg| {
            collected.push(Aggregate { slot, function, arg });
            Expr::Slot(slot)
        });
        self.collected = Some(collected);
        found
    }
}

fn check_arity(known: &str, name: &Name, given: usize, min: usize, max: usize) -> Result<(), Complaint> {
    if (min..=max).contains(&given) {
        return Ok(());
    }
    let wanted = match (min, max) {
        (min, usize::MAX) => format!("at least {min}"),
        (min, max) if min == max => min.to_string(),
        (min, max) => format!("{min} to {max}"),
    };
    let message = format!("The {known} function requires {wanted} argument(s).");
    Err(Complaint::new("SC2050", name.at, message))
}
