//! A tree as text, in one of its many spellings: keywords in any case, either quotes, `.a` or `["a"]`,
//! optional words left out, spaces and comments where they may be.
//!
//! Parentheses are left out only where nobody could read the text another way: arithmetic binds tighter than
//! comparison, that tighter than AND, that tighter than OR. The operands of all else are put in parentheses.

use super::random::Random;
use orrery_query::parse::*;
use orrery_value::Value;

pub fn write(query: &Query, seed: u64) -> String {
    let mut writer = Writer { out: String::new(), random: Random::new(seed) };
    writer.query(query);
    writer.out
}

struct Writer {
    out: String,
    random: Random,
}

/// How tightly an expression holds together; an operand below what its place asks for is put in parentheses.
mod tight {
    pub const LOOSE: u8 = 0;
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const COMPARE: u8 = 4;
    pub const ADD: u8 = 6;
    pub const MULTIPLY: u8 = 7;
    pub const SIGN: u8 = 8;
    pub const WHOLE: u8 = 9;
}

fn tightness(expr: &Expr) -> u8 {
    use BinaryOp::*;
    match &expr.kind {
        ExprKind::Binary(Or, ..) => tight::OR,
        ExprKind::Binary(And, ..) => tight::AND,
        ExprKind::Unary(UnaryOp::Not, _) => tight::NOT,
        ExprKind::Binary(Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual, ..)
        | ExprKind::In { .. }
        | ExprKind::Between { .. }
        | ExprKind::Like { .. } => tight::COMPARE,
        ExprKind::Binary(Add | Subtract, ..) => tight::ADD,
        ExprKind::Binary(Multiply | Divide | Modulo, ..) => tight::MULTIPLY,
        ExprKind::Unary(..) => tight::SIGN,
        ExprKind::Binary(..) | ExprKind::Conditional(..) => tight::LOOSE,
        _ => tight::WHOLE,
    }
}

impl Writer {
    fn query(&mut self, query: &Query) {
        self.word("SELECT");
        if query.distinct {
            self.word("DISTINCT");
        }
        if let Some(top) = &query.top {
            self.word("TOP");
            self.count(top);
        }
        self.select(&query.select);
        for (i, source) in query.from.iter().enumerate() {
            self.word(if i == 0 { "FROM" } else { "JOIN" });
            self.source(source);
        }
        if let Some(filter) = &query.filter {
            self.word("WHERE");
            self.expr(filter, tight::LOOSE);
        }
        self.tail(query);
    }

    fn tail(&mut self, query: &Query) {
        if !query.group_by.is_empty() {
            self.words("GROUP BY");
            self.list(&query.group_by);
        }
        if let OrderBy::Keys(keys) = &query.order_by
            && !keys.is_empty()
        {
            self.words("ORDER BY");
            self.separated(keys, Self::order_key);
        }
        if let Some(window) = &query.window {
            self.word("OFFSET");
            self.count(&window.offset);
            self.word("LIMIT");
            self.count(&window.limit);
        }
    }

    /// A number of rows, or the place of an element: digits and nothing else.
    fn count(&mut self, count: &Expr) {
        match &count.kind {
            ExprKind::Number(it) => self.put(&Value::Number(*it).to_json()),
            _ => self.expr(count, tight::WHOLE),
        }
    }

    fn order_key(&mut self, key: &OrderKey) {
        self.expr(&key.expr, tight::WHOLE);
        if key.descends() {
            self.word("DESC");
        } else if self.random.chance(40) {
            self.word("ASC");
        }
    }

    fn select(&mut self, select: &Select) {
        match select {
            Select::All => self.put("*"),
            Select::Value(expr) => {
                self.word("VALUE");
                self.expr(expr, tight::LOOSE);
            }
            Select::List(items) => self.separated(items, |writer, item| {
                writer.expr(&item.expr, tight::LOOSE);
                writer.alias(item.alias.as_ref());
            }),
        }
    }

    fn source(&mut self, source: &Source) {
        if source.each {
            self.put(source.alias.as_ref().map_or("", |name| &name.text));
            self.word("IN");
        }
        match &source.of {
            Collection::Path(root, steps) => {
                self.put(&root.text);
                steps.iter().for_each(|step| self.step(step));
            }
            Collection::Query(query) => self.wrapped(query),
        }
        if !source.each {
            self.alias(source.alias.as_ref());
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Member(name) => self.member(name),
            Step::Index(at) => self.out.push_str(&format!("[{at}]")),
        }
    }

    fn alias(&mut self, alias: Option<&Name>) {
        let Some(name) = alias else { return };
        if self.random.chance(75) {
            self.word("AS");
        }
        self.put(&name.text);
    }

    fn wrapped(&mut self, query: &Query) {
        self.put("(");
        self.query(query);
        self.put(")");
    }

    fn expr(&mut self, expr: &Expr, least: u8) {
        // Now and then parentheses that nobody needs.
        if tightness(expr) < least || self.random.chance(4) && is_operator(expr) {
            self.put("(");
            self.bare(expr);
            self.put(")");
        } else {
            self.bare(expr);
        }
    }

    fn bare(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Undefined => self.word("undefined"),
            ExprKind::Null => self.word("null"),
            ExprKind::Bool(true) => self.word("true"),
            ExprKind::Bool(false) => self.word("false"),
            ExprKind::Number(it) => self.number(it.as_f64()),
            ExprKind::String(it) => self.string(it),
            ExprKind::Parameter(name) | ExprKind::Name(name) => self.put(name),
            ExprKind::Member(of, name) => {
                self.expr(of, tight::WHOLE);
                self.member(name);
            }
            ExprKind::Index(of, at) => {
                self.expr(of, tight::WHOLE);
                self.out.push('[');
                self.count(at);
                self.out.push(']');
            }
            ExprKind::Array(items) => self.enclosed("[", items, "]"),
            ExprKind::Object(members) => self.object(members),
            ExprKind::Call { name, args, .. } => {
                let name = self.cased(&name.text);
                self.enclosed(&format!("{name}("), args, ")");
            }
            ExprKind::Subquery(query) => self.wrapped(query),
            ExprKind::Exists(query) => {
                self.word("EXISTS");
                self.wrapped(query);
            }
            ExprKind::ArrayOf(query) => {
                self.word("ARRAY");
                self.wrapped(query);
            }
            _ => self.operator(expr),
        }
    }

    fn operator(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, of) => {
                self.word("NOT");
                self.expr(of, tight::WHOLE);
            }
            ExprKind::Unary(op, of) => {
                self.put(match op {
                    UnaryOp::Minus => "-",
                    UnaryOp::Plus => "+",
                    _ => "~",
                });
                self.expr(of, tight::WHOLE);
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, tightness(expr)),
            ExprKind::Conditional(test, yes, no) => {
                self.expr(test, tight::WHOLE);
                self.put("?");
                self.expr(yes, tight::WHOLE);
                self.put(":");
                self.expr(no, tight::WHOLE);
            }
            _ => self.predicate(expr),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, own: u8) {
        let (left, right) = match own {
            tight::LOOSE => (tight::WHOLE, tight::WHOLE),
            tight::COMPARE => (tight::ADD, tight::ADD),
            // Chains lean to the left.
            own => (own, own + 1),
        };
        self.expr(a, left);
        let sign = self.sign(op);
        if sign.starts_with(|c: char| c.is_ascii_alphabetic()) {
            self.word(sign)
        } else {
            self.put(sign)
        }
        self.expr(b, right);
    }

    fn sign(&mut self, op: BinaryOp) -> &'static str {
        match op {
            BinaryOp::Or => "OR",
            BinaryOp::And => "AND",
            BinaryOp::Coalesce => "??",
            BinaryOp::Equal => "=",
            BinaryOp::NotEqual => self.random.pick(&["!=", "<>"]),
            BinaryOp::Less => "<",
            BinaryOp::LessOrEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterOrEqual => ">=",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::BitAnd => "&",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
            BinaryOp::ShiftRightZero => ">>>",
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Modulo => "%",
            BinaryOp::Concat => "||",
        }
    }

    fn predicate(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::In { value, list, negated } => {
                self.tested(value, *negated, "IN");
                self.enclosed("(", list, ")");
            }
            ExprKind::Between { value, low, high, negated } => {
                self.tested(value, *negated, "BETWEEN");
                self.expr(low, tight::ADD);
                self.word("AND");
                self.expr(high, tight::ADD);
            }
            ExprKind::Like { value, pattern, escape, negated } => {
                self.tested(value, *negated, "LIKE");
                self.expr(pattern, tight::WHOLE);
                if let Some(escape) = escape {
                    self.word("ESCAPE");
                    self.expr(escape, tight::WHOLE);
                }
            }
            other => unreachable!("{other:?} is written elsewhere"),
        }
    }

    fn tested(&mut self, value: &Expr, negated: bool, word: &str) {
        self.expr(value, tight::ADD);
        if negated {
            self.word("NOT");
        }
        self.word(word);
    }

    fn object(&mut self, members: &[(String, Expr)]) {
        self.put("{");
        self.separated(members, |writer, (name, value)| {
            if writer.random.chance(30) {
                writer.put(name)
            } else {
                writer.string(name)
            }
            writer.put(":");
            writer.expr(value, tight::LOOSE);
        });
        self.put("}");
    }

    fn enclosed(&mut self, open: &str, list: &[Expr], close: &str) {
        self.put(open);
        self.list(list);
        self.put(close);
    }

    fn list(&mut self, list: &[Expr]) {
        self.separated(list, |writer, expr| writer.expr(expr, tight::LOOSE));
    }

    fn separated<T>(&mut self, list: &[T], each: impl Fn(&mut Self, &T)) {
        for (i, item) in list.iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            each(self, item);
        }
    }

    fn member(&mut self, name: &str) {
        match self.random.below(5) {
            0 => self.out.push_str(&format!("[\"{name}\"]")),
            1 => self.out.push_str(&format!("['{name}']")),
            _ => self.out.push_str(&format!(".{name}")),
        }
    }

    fn number(&mut self, it: f64) {
        let text = Value::from(it).to_json();
        let text = match self.random.below(12) {
            _ if text.contains('e') => text,
            0 if text.contains('.') => format!("{text}0"),
            0 => format!("{text}.0"),
            1 => format!("{text}e0"),
            _ => text,
        };
        self.put(&text);
    }

    fn string(&mut self, text: &str) {
        let quote = self.random.pick(&['"', '\'']);
        let mut written = String::from(quote);
        for c in text.chars() {
            match c {
                '\\' => written.push_str("\\\\"),
                c if c == quote => written.extend(['\\', c]),
                '\n' => written.push_str("\\n"),
                c if self.random.chance(2) && (c as u32) < 0x1_0000 => {
                    written.push_str(&format!("\\u{:04x}", c as u32));
                }
                c => written.push(c),
            }
        }
        written.push(quote);
        self.put(&written);
    }

    fn words(&mut self, words: &str) {
        words.split(' ').for_each(|word| self.word(word));
    }

    fn word(&mut self, word: &str) {
        let word = self.cased(word);
        self.put(&word);
    }

    fn cased(&mut self, word: &str) -> String {
        if self.random.chance(12) { word.to_ascii_lowercase() } else { word.to_owned() }
    }

    /// Appends a token, apart from the one before.
    fn put(&mut self, token: &str) {
        if !self.out.is_empty() {
            let gap = if self.random.chance(3) { "\n\t" } else { " " };
            self.out.push_str(gap);
        }
        self.out.push_str(token);
    }
}

fn is_operator(expr: &Expr) -> bool {
    tightness(expr) < tight::WHOLE
}
