//! Patching an item: read, changed and written in one transaction.

use super::operations::{Effect, ItemError, Target, load_for_update, overwrite};
use super::prepare::{Directive, prepare};
use crate::charge::Charge;
use crate::patch::{Condition, Operation, PatchRequest, apply, check_paths};
use orrery_catalog::{Container, Preconditions, Stamp};
use orrery_kv::Txn;
use orrery_query::execute::Host;

/// A patch that may be tried on items of a container.
#[derive(Clone, Debug)]
pub struct Change {
    operations: Vec<Operation>,
    condition: Option<Condition>,
    directive: Directive,
}

impl Change {
    /// Everything that can be checked without the item.
    pub fn new(
        container: &Container,
        request: PatchRequest,
        directive: Directive,
    ) -> Result<Self, ItemError> {
        let PatchRequest { operations, condition } = request;
        check_paths(&operations, container.definition().partition_key())?;
        let condition = condition.as_deref().map(Condition::parse).transpose()?;
        Ok(Self { operations, condition, directive })
    }
}

/// Changes the item at `target` as the operations say, if the conditions hold; all of them or none. What the patch
/// makes of the item is held to what any item is held to.
pub fn patch(
    txn: &mut Txn<'_>,
    container: &Container,
    target: &Target,
    change: &Change,
    conditions: Preconditions,
    stamp: Stamp,
    host: &dyn Host,
) -> Result<Effect, ItemError> {
    let old = load_for_update(txn, container, target, conditions, stamp)?;
    if let Some(condition) = &change.condition
        && !condition.holds(txn, container, target, host)?
    {
        return Err(ItemError::ConditionFails);
    }
    let text = apply(&change.operations, old.text())?;
    let item = prepare(container, text.as_bytes()).map_err(ItemError::Patched)?.indexed(change.directive);
    if item.epk != target.epk {
        return Err(ItemError::PartitionKeyChanged);
    }
    let (effect, entries) = overwrite(txn, container, &item, &old, stamp)?;
    let charge = Charge::patch(effect.item.text_length(), old.text_length(), entries);
    Ok(Effect { charge, ..effect })
}
