//! The value of an expression for one row.

use super::exec_context::ExecContext;
use super::operators as op;
use super::subquery;
use crate::bind::bound::Expr;
use crate::datum::{Datum, Kind};
use crate::error::QueryError;
use crate::functions::Function;
use crate::limits;
use crate::parse::{BinaryOp, UnaryOp};
use orrery_core::limits::VALUE_LEVELS_MAX;
use orrery_value::Value;
use std::borrow::Cow;

/// A page under construction plus one row.
const ROW_BYTES_MAX: usize = limits::QUERY_MEMORY_BYTES_MAX + limits::VALUE_BYTES_MAX;

/// The slots of a row.
pub(crate) type Row<'d> = Vec<Datum<'d>>;

pub(crate) fn eval<'d>(expr: &'d Expr, row: &mut Row<'d>, ctx: &ExecContext<'_>) -> Datum<'d> {
    orrery_core::tour_step!();
    match expr {
        Expr::Constant(value) => Datum::of(value),
        Expr::Slot(slot) => row[*slot].clone(),
        Expr::Member(of, name) => match &**of {
            Expr::Slot(slot) => row[*slot].member(name),
            of => eval(of, row, ctx).member(name),
        },
        Expr::Index(of, index) => index_of(&eval(of, row, ctx), &eval(index, row, ctx)),
        Expr::Unary(op, of) => unary(*op, &eval(of, row, ctx)),
        Expr::Binary(BinaryOp::Coalesce, a, b) => match eval(a, row, ctx) {
            Datum::Undefined => eval(b, row, ctx),
            defined => defined,
        },
        Expr::Binary(op, a, b) => op::binary(*op, &eval(a, row, ctx), &eval(b, row, ctx)),
        Expr::All(terms) => junction(terms, false, row, ctx),
        Expr::Any(terms) => junction(terms, true, row, ctx),
        Expr::Conditional(a, b, c) => {
            let taken = if eval(a, row, ctx).is_true() { b } else { c };
            eval(taken, row, ctx)
        }
        Expr::In { value, list, negated } => {
            let value = eval(value, row, ctx);
            negate_if(*negated, is_in(&value, list, row, ctx))
        }
        Expr::InSet { value, set, negated } => {
            let value = eval(value, row, ctx);
            negate_if(*negated, is_in_set(&value, set))
        }
        Expr::Between { value, low, high, negated } => {
            let value = eval(value, row, ctx);
            let low = op::compare(BinaryOp::GreaterOrEqual, &value, &eval(low, row, ctx));
            let high = op::compare(BinaryOp::LessOrEqual, &value, &eval(high, row, ctx));
            negate_if(*negated, op::and(low, high))
        }
        Expr::Like { value, pattern, escape, negated } => {
            let escape = escape.as_ref().map(|escape| eval(escape, row, ctx));
            let (value, pattern) = (eval(value, row, ctx), eval(pattern, row, ctx));
            let found = op::like(&value, &pattern, escape.as_ref(), ctx);
            negate_if(*negated, found)
        }
        Expr::Array(items) => {
            let mut measure = Measure::new(ctx);
            let items = items.iter().map(|item| eval(item, row, ctx).into_value());
            let items = items.take_while(|item| measure.admits(item));
            built(Value::Array(items.filter(|item| !item.is_undefined()).collect()), ctx)
        }
        Expr::Object(members) => {
            let mut measure = Measure::new(ctx);
            let members =
                members.iter().map(|(name, value)| (name.clone(), eval(value, row, ctx).into_value()));
            let members = members.take_while(|(_, value)| measure.admits(value));
            built(Value::Object(members.filter(|(_, value)| !value.is_undefined()).collect()), ctx)
        }
        Expr::Call(function, args) => call(function.0, args, row, ctx),
        Expr::Udf(name, args) => {
            let args: Vec<Value> = args.iter().map(|arg| eval(arg, row, ctx).into_value()).collect();
            ctx.host.udf(name, &args).map_or_else(
                |error| {
                    ctx.fail(error);
                    Datum::Undefined
                },
                Datum::owned,
            )
        }
        Expr::Subquery(block) => subquery::first_value(block, row, ctx),
        Expr::Exists(block) => Datum::Bool(!subquery::first_value(block, row, ctx).is_undefined()),
        Expr::ArrayOf(block) => subquery::array_of_values(block, row, ctx),
    }
}

/// A few arguments of the largest size are bearable; from many, a function could build too large a value.
const ARGS_BYTES_MAX: usize = 4 * limits::VALUE_BYTES_MAX;

fn call<'d>(function: &Function, args: &'d [Expr], row: &mut Row<'d>, ctx: &ExecContext<'_>) -> Datum<'d> {
    let (mut given, mut bytes) = (Vec::with_capacity(args.len()), 0);
    for arg in args {
        let value = eval(arg, row, ctx);
        bytes += size_of(&value);
        if bytes > ARGS_BYTES_MAX {
            ctx.fail(too_large());
            return Datum::Undefined;
        }
        given.push(value);
    }
    // A function reads all its arguments and cannot be interrupted.
    ctx.count_bytes(bytes);
    let answer = (function.eval)(&given, &ctx.functions);
    if let Some(error) = ctx.functions.take_failure() {
        ctx.fail(error);
    }
    match answer {
        Datum::Built(Cow::Owned(value)) => built(value, ctx),
        other => other,
    }
}

/// The size of a list under construction; building stops when it is too large or the execution has ended.
struct Measure<'w, 'a> {
    ctx: &'w ExecContext<'a>,
    bytes: usize,
}

impl<'w, 'a> Measure<'w, 'a> {
    fn new(ctx: &'w ExecContext<'a>) -> Self {
        Self { ctx, bytes: 0 }
    }

    fn admits(&mut self, value: &Value) -> bool {
        self.bytes += subquery::size_of_value(value);
        if self.bytes > limits::VALUE_BYTES_MAX {
            self.ctx.fail(too_large());
        }
        !self.ctx.is_stopped()
    }
}

/// The approximate memory of a copy.
fn size_of(datum: &Datum<'_>) -> usize {
    match datum {
        Datum::String(text) => text.len(),
        Datum::Text(text) => text.len(),
        Datum::Built(value) => subquery::size_of_value(value),
        _ => std::mem::size_of::<Value>(),
    }
}

/// A value may contain earlier results twice, or nest them a level deeper, so every result is measured.
pub(crate) fn built<'d>(value: Value, ctx: &ExecContext<'_>) -> Datum<'d> {
    if subquery::size_of_value(&value) > limits::VALUE_BYTES_MAX {
        ctx.fail(too_large());
    } else if subquery::levels_of_value(&value) > VALUE_LEVELS_MAX {
        let max = VALUE_LEVELS_MAX;
        ctx.fail(QueryError::Refused(format!("The query builds a value of more than {max} levels.")));
    } else {
        return Datum::Built(Cow::Owned(value));
    }
    Datum::Undefined
}

fn too_large() -> QueryError {
    let max = limits::VALUE_BYTES_MAX / 1024 / 1024;
    QueryError::Refused(format!("The query builds a value of more than {max} MB; select less of each item."))
}

/// Appends the expression's value as JSON, without building values that can be written directly. Returns
/// whether anything was written: undefined writes nothing.
pub(crate) fn write<'d>(expr: &'d Expr, row: &mut Row<'d>, ctx: &ExecContext<'_>, out: &mut Vec<u8>) -> bool {
    match expr {
        Expr::Object(members) => {
            out.push(b'{');
            let mut first = true;
            for (name, value) in members {
                let start = out.len();
                if !first {
                    out.push(b',');
                }
                orrery_value::raw::escape_into(name, out);
                out.push(b':');
                if ctx.is_stopped() {
                    break;
                }
                if write(value, row, ctx, out) {
                    first = false;
                } else {
                    out.truncate(start);
                }
            }
            out.push(b'}');
            true
        }
        Expr::Array(items) => {
            out.push(b'[');
            let mut first = true;
            for item in items {
                let start = out.len();
                if !first {
                    out.push(b',');
                }
                if ctx.is_stopped() {
                    break;
                }
                if write(item, row, ctx, out) {
                    first = false;
                } else {
                    out.truncate(start);
                }
            }
            out.push(b']');
            true
        }
        other => {
            let value = eval(other, row, ctx);
            let start = out.len();
            value.write_json(out);
            if out.len() - start > limits::VALUE_BYTES_MAX || out.len() > ROW_BYTES_MAX {
                ctx.fail(too_large());
            }
            !value.is_undefined()
        }
    }
}

fn index_of<'d>(of: &Datum<'d>, index: &Datum<'d>) -> Datum<'d> {
    match index {
        Datum::String(name) => of.member(name),
        Datum::Number(number) => {
            let place = number.as_i64().and_then(|place| usize::try_from(place).ok());
            place.map_or(Datum::Undefined, |place| of.element(place))
        }
        _ => Datum::Undefined,
    }
}

fn unary<'d>(op: UnaryOp, value: &Datum<'d>) -> Datum<'d> {
    match op {
        UnaryOp::Not => value.as_bool().map_or(Datum::Undefined, |it| Datum::Bool(!it)),
        UnaryOp::Plus => value.as_number().map_or(Datum::Undefined, Datum::Number),
        UnaryOp::Minus => op::negate(value),
        UnaryOp::BitNot => op::bits(value).map_or(Datum::Undefined, |it| Datum::from(i64::from(!it))),
    }
}

/// AND (`decides` false) or OR (`decides` true): the first term that decides ends it; a term that is not a
/// boolean makes the result undefined otherwise.
fn junction<'d>(terms: &'d [Expr], decides: bool, row: &mut Row<'d>, ctx: &ExecContext<'_>) -> Datum<'d> {
    let mut undecided = false;
    for term in terms {
        match eval(term, row, ctx) {
            Datum::Bool(it) if it == decides => return Datum::Bool(decides),
            Datum::Bool(_) => {}
            _ => undecided = true,
        }
    }
    if undecided { Datum::Undefined } else { Datum::Bool(!decides) }
}

fn negate_if(negated: bool, value: Datum<'_>) -> Datum<'_> {
    match value {
        Datum::Bool(it) => Datum::Bool(it != negated),
        other => other,
    }
}

fn is_in<'d>(value: &Datum<'d>, list: &'d [Expr], row: &mut Row<'d>, ctx: &ExecContext<'_>) -> Datum<'d> {
    if value.is_undefined() {
        return Datum::Undefined;
    }
    // Evaluated once, not once per item.
    let value = if value.kind() >= Kind::Array { Datum::owned(value.to_value()) } else { value.clone() };
    let mut undecided = false;
    for item in list {
        let item = eval(item, row, ctx);
        if !ctx.count_row() {
            return Datum::Undefined;
        }
        if item.is_undefined() {
            undecided = true;
        } else if value.same(&item) {
            return Datum::Bool(true);
        }
    }
    if undecided { Datum::Undefined } else { Datum::Bool(false) }
}

/// The set is sorted and contains no undefined.
fn is_in_set<'d>(value: &Datum<'d>, set: &'d [Value]) -> Datum<'d> {
    if value.is_undefined() {
        return Datum::Undefined;
    }
    Datum::Bool(set.binary_search_by(|item| Datum::of(item).cmp_total(value)).is_ok())
}
