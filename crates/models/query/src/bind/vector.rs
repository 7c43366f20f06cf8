//! `VectorDistance` over a path of the container's vector policy: what the policy says holds, unless the query
//! says otherwise.

use super::Binder;
use super::bound::{Builtin, Expr};
use orrery_value::Value;

impl Binder<'_> {
    /// Adds the policy's distance to a call that names none.
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

/// The members from an alias on.
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
