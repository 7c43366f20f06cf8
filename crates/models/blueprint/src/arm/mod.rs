//! ARM templates, such as `bicep build` emits: JSON whose strings may be expressions.
//!
//! Reads the resources of Cosmos DB's SQL API and of storage accounts, whether they are siblings, nested, in
//! a copy loop or in a nested deployment (a Bicep module). Values are evaluated only on demand, so a template may contain any
//! other resources and expressions.

mod expression;
mod functions;
mod resources;
mod scope;
mod storage;

use crate::account::Account;
use crate::blueprint::Blueprint;
use crate::budget::Budget;
use crate::node::{Fault, Node, fault};
use crate::source::Variables;
use crate::storage::Accounts;
use scope::Scope;

/// What a template declares, by provider.
#[derive(Default)]
struct Gathered {
    account: Account,
    storage: Accounts,
}

pub(crate) fn read(root: &Node, variables: &Variables, budget: &Budget) -> Result<Vec<Blueprint>, Fault> {
    if root.get("resources").is_none() {
        return fault(
            root.at,
            "this JSON is neither an ARM template (it has no 'resources') nor a blueprint",
        );
    }
    let mut gathered = Gathered::default();
    resources::gather(root, &Scope::of_template(root, variables, budget), &mut gathered)?;
    let mut found = gathered.account.finish();
    gathered.storage.finish_into(&mut found);
    if found.is_empty() {
        return fault(
            root.at,
            "the template has no database or container of Cosmos DB's SQL API, and nothing of a storage account",
        );
    }
    Ok(found)
}
