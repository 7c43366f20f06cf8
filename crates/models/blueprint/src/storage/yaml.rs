//! The member `storage` of the native format: accounts, their tables and their queues.

use super::names;
use super::{
    Accounts, ExampleEntity, GivenPolicy, StorageAccount, StorageQueue, StorageTable, entity, policies,
};
use crate::format::{bounded, text};
use crate::limits;
use crate::node::{Data, Fault, Fields, Member, Node, fault};
use orrery_catalog::storage::{ServiceKind, SignedIdentifiers};
use orrery_protocol::storage::DEVELOPMENT_ACCOUNT;
use orrery_queues::MessageText;
use orrery_tables::EdmType;
use orrery_tables::entity::{PARTITION_KEY, ROW_KEY, is_property_name};

pub(crate) fn read(list: &Node) -> Result<Vec<StorageAccount>, Fault> {
    let mut accounts = Accounts::default();
    for node in bounded(list, "'storage'", limits::BLUEPRINT_ACCOUNTS_MAX)? {
        account(node, &mut accounts)?;
    }
    Ok(accounts.finish())
}

fn account(node: &Node, accounts: &mut Accounts) -> Result<(), Fault> {
    let mut fields = Fields::of("a storage account", node)?;
    let given = fields.take("account");
    let name = given.map_or(Ok(DEVELOPMENT_ACCOUNT), |node| node.expect_text("'account'"))?;
    let about = text(fields.take("about"), "'about'")?;
    accounts.declare(given.map_or(node.at, |node| node.at), name, about)?;
    if let Some(tables) = fields.take("tables") {
        for one in bounded(tables, "'tables'", limits::BLUEPRINT_TABLES_MAX)? {
            table(one, name, accounts)?;
        }
    }
    if let Some(queues) = fields.take("queues") {
        for one in bounded(queues, "'queues'", limits::BLUEPRINT_QUEUES_MAX)? {
            accounts.add_queue(one.at, name, queue(one)?)?;
        }
    }
    fields.take("requirements");
    fields.finish()
}

fn table(node: &Node, account: &str, accounts: &mut Accounts) -> Result<(), Fault> {
    let mut fields = Fields::of("a table", node)?;
    let name = fields.required("table")?;
    let name = names::table(name.at, name.expect_text("'table'")?)?;
    let about = text(fields.take("about"), "'about'")?;
    let columns = fields.take("columns").map(columns).transpose()?.unwrap_or_default();
    let policies = access(fields.take("access"), ServiceKind::Table)?;
    let examples = fields.take("entities");
    fields.take("requirements");
    fields.finish()?;
    let made = StorageTable { name: name.clone(), about, columns, policies, entities: Vec::new() };
    let columns = made.columns.clone();
    accounts.add_table(node.at, account, made)?;
    let examples = examples.map(|list| bounded(list, "'entities'", limits::BLUEPRINT_FIXTURES_MAX));
    for one in examples.transpose()?.unwrap_or_default() {
        accounts.add_entity(one.at, account, &name, example(one, &columns)?)?;
    }
    Ok(())
}

/// Names and types: `{CreatedAt: DateTime}`.
fn columns(node: &Node) -> Result<Vec<(String, EdmType)>, Fault> {
    let column = |member: &Member| {
        if !is_property_name(&member.name) {
            return fault(member.at, format!("'{}' is no name of a property", member.name));
        }
        Ok((member.name.clone(), super::entity::edm_type(&member.value)?))
    };
    node.expect_map("'columns'")?.iter().map(column).collect()
}

fn example(node: &Node, columns: &[(String, EdmType)]) -> Result<ExampleEntity, Fault> {
    let members = node.expect_map("an example entity")?;
    let key = |name: &str| {
        let reason = || format!("an example entity has no '{name}'; add it");
        node.get(name).ok_or_else(|| Fault { at: node.at, reason: reason() })
    };
    let (partition_key, row_key) = (key(PARTITION_KEY)?, key(ROW_KEY)?);
    let is_key = |member: &&Member| matches!(&*member.name, PARTITION_KEY | ROW_KEY);
    let rest: Vec<Member> = members.iter().filter(|member| !is_key(member)).cloned().collect();
    entity(node.at, partition_key, row_key, &rest, columns)
}

fn queue(node: &Node) -> Result<StorageQueue, Fault> {
    let mut fields = Fields::of("a queue", node)?;
    let name = fields.required("queue")?;
    let name = names::queue(name.at, name.expect_text("'queue'")?)?;
    let about = text(fields.take("about"), "'about'")?;
    let metadata = fields.take("metadata").map(names::metadata).transpose()?;
    let policies = access(fields.take("access"), ServiceKind::Queue)?;
    let messages =
        fields.take("messages").map(|list| bounded(list, "'messages'", limits::BLUEPRINT_MESSAGES_MAX));
    let messages = messages.transpose()?.unwrap_or_default().iter().map(message).collect::<Result<_, _>>()?;
    fields.take("requirements");
    fields.finish()?;
    Ok(StorageQueue { name, about, metadata, policies, messages })
}

/// A text, or any other value as JSON.
fn message(node: &Node) -> Result<String, Fault> {
    let text = match &node.data {
        Data::Text(text) => text.clone(),
        _ => node.to_value().to_string(),
    };
    if let Some(control) = text.chars().find(|one| one.is_control() && !matches!(one, '\t' | '\n' | '\r')) {
        let code = u32::from(control);
        return fault(node.at, format!("a message travels as XML, which has no character U+{code:04X}"));
    }
    match MessageText::new(text.clone()) {
        Ok(_) => Ok(text),
        Err(error) => fault(node.at, format!("this is no message: {error}")),
    }
}

/// Policies by their ids: `{readers: {permissions: r, expiry: 2027-01-15}}`.
fn access(node: Option<&Node>, service: ServiceKind) -> Result<Option<SignedIdentifiers>, Fault> {
    let Some(node) = node else { return Ok(None) };
    let one = |member: &Member| {
        let mut fields = Fields::of("an access policy", &member.value)?;
        let mut take = |name| fields.take(name).cloned();
        let (start, expiry, permissions) = (take("start"), take("expiry"), take("permissions"));
        fields.finish()?;
        Ok(GivenPolicy { at: member.at, id: member.name.clone(), start, expiry, permissions })
    };
    let given = node.expect_map("'access'")?.iter().map(one).collect::<Result<Vec<_>, Fault>>()?;
    policies(node.at, service, given).map(Some)
}
