//! ARM templates, such as `bicep build` emits: JSON whose strings may be expressions.
//!
//! Reads the resources of Cosmos DB's SQL API, whether they are siblings, nested, in a copy loop or in a
//! nested deployment (a Bicep module). Values are evaluated only on demand, so a template may contain any
//! other resources and expressions.

mod expression;
mod functions;
mod resources;
mod scope;

use crate::account::Account;
use crate::blueprint::Blueprint;
use crate::budget::Budget;
use crate::node::{Fault, Node, fault};
use crate::source::Variables;
use scope::Scope;

pub(crate) fn read(root: &Node, variables: &Variables, budget: &Budget) -> Result<Vec<Blueprint>, Fault> {
    if root.get("resources").is_none() {
        return fault(
            root.at,
            "this JSON is neither an ARM template (it has no 'resources') nor a blueprint",
        );
    }
    let mut account = Account::default();
    resources::gather(root, &Scope::of_template(root, variables, budget), &mut account)?;
    let found = account.finish();
    if found.is_empty() {
        return fault(root.at, "the template has no database or container of Cosmos DB's SQL API");
    }
    Ok(found)
}
