//! ARM templates, such as `bicep build` emits: JSON whose strings may be expressions.
//!
//! Read are the resources of Cosmos DB's SQL API, whether they stand beside one another, inside one another, in a copy
//! loop or in a nested deployment (a module of Bicep). Values are evaluated only where they are needed, so a template may
//! have any other resources and expressions beside them.

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
