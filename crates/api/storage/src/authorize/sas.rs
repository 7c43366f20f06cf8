//! Shared access signatures (wire guide §3): whose it is, what it demands, and the policy that it names.

use super::conditions::{check_address, check_protocol, check_times, mandatory};
use super::grant::{Caller, Grant};
use super::need::{Moment, Need, Resource};
use super::roles::Role;
use super::rules::Rules;
use super::table_range::TableRange;
use crate::error::StorageError;
use crate::request::StorageRequest;
use crate::storage::Storage;
use crate::user_delegation_key;
use orrery_api_common::Key;
use orrery_catalog::storage::{AccessPolicy, ServiceKind};
use orrery_protocol::storage::sas::{Fields, Kind, Sas, SignedRequest, layout};

pub fn check(
    storage: &Storage,
    request: &StorageRequest,
    need: &Need<'_>,
    rules: &dyn Rules,
    sas: Sas,
) -> Result<Grant, StorageError> {
    let delegator = check_signature(storage, request, need, &sas)?;
    let fields = &sas.fields;
    check_protocol(said(&fields.spr), request.peer.scheme)?;
    check_address(said(&fields.sip), request.peer.addr.ip())?;
    if sas.kind == Kind::Delegation {
        check_delegation(request, fields)?;
    }
    let permissions = match said(&fields.si) {
        Some(id) if sas.kind == Kind::Service => by_policy(request, need, rules, fields, id)?,
        _ => {
            check_times(request, said(&fields.st), said(&fields.se))?;
            said(&fields.sp).ok_or_else(|| mandatory("sp"))?.to_owned()
        }
    };
    let range = match (sas.kind, request.service) {
        (Kind::Service, ServiceKind::Table) => TableRange::of(fields)?,
        _ => None,
    };
    Ok(Grant { permissions, range, delegator, ..Grant::new(request, Caller::Sas(Box::new(sas))) })
}

/// An empty field says nothing.
fn said(field: &Option<String>) -> Option<&str> {
    field.as_deref().filter(|text| !text.is_empty())
}

/// Gives the role of the user whose key it was, if it was a user's.
fn check_signature(
    storage: &Storage,
    request: &StorageRequest,
    need: &Need<'_>,
    sas: &Sas,
) -> Result<Option<Role>, StorageError> {
    let account = request.account.as_str();
    let of_account = |key: &Key| (key.clone(), None);
    let of_user = |role| (user_delegation_key::derive(storage, account, role, &sas.fields).1, Some(role));
    let keys: Vec<(Key, Option<Role>)> = match sas.kind {
        Kind::Account | Kind::Service => storage.accounts().keys(account).iter().map(of_account).collect(),
        Kind::Delegation => Role::DELEGATORS.map(of_user).to_vec(),
    };
    let texts = strings_to_sign(request, need, sas);
    let signature = sas.signature();
    let signed = |(key, _): &&(Key, Option<Role>)| texts.iter().any(|text| key.verify(text, &signature));
    if let Some((_, role)) = keys.iter().find(signed) {
        return Ok(*role);
    }
    let text = texts.first().map(String::as_str).unwrap_or_default();
    Err(StorageError::authentication_failed(format!(
        "Signature did not match. String to sign used was {text}"
    )))
}

/// What the documents say first, then what some clients sign.
fn strings_to_sign(request: &StorageRequest, need: &Need<'_>, sas: &Sas) -> Vec<String> {
    let (account, fields) = (request.account.as_str(), &sas.fields);
    let container = need.resource.container().unwrap_or_default();
    match (sas.kind, request.service) {
        (Kind::Account, _) => vec![layout::account(account, fields)],
        (Kind::Service, ServiceKind::Queue) => vec![layout::queue(account, container, fields)],
        (Kind::Service, ServiceKind::Table) => vec![layout::table(account, fields)],
        (Kind::Delegation, ServiceKind::Queue) => vec![layout::delegation_queue(account, container, fields)],
        // There is none for tables, and nothing is signed by an empty text.
        (Kind::Delegation, ServiceKind::Table) => Vec::new(),
        (Kind::Service, ServiceKind::Blob) => {
            let moment = moment(need, fields);
            blob_paths(request, need, fields)
                .iter()
                .map(|path| layout::blob(account, path, moment, fields))
                .collect()
        }
        (Kind::Delegation, ServiceKind::Blob) => {
            let (moment, signed) = (moment(need, fields), signed_request(request, fields));
            let text = |path: &String| layout::delegation_blob(account, path, moment, &signed, fields);
            blob_paths(request, need, fields).iter().map(text).collect()
        }
    }
}

/// The container, the blob, or the directory above it, as `sr` says; a blob also as it travelled, which some clients sign.
fn blob_paths(request: &StorageRequest, need: &Need<'_>, fields: &Fields) -> Vec<String> {
    let container = need.resource.container().unwrap_or_default().to_owned();
    let Resource::Blob { name, .. } = need.resource else { return vec![container] };
    match said(&fields.sr) {
        Some("c") => vec![container],
        Some("d") => {
            let depth = said(&fields.sdd).and_then(|depth| depth.parse().ok()).unwrap_or_default();
            let directory: Vec<&str> = name.split('/').take(depth).collect();
            vec![[vec![container.as_str()], directory].concat().join("/")]
        }
        _ => vec![format!("{container}/{name}"), request.raw_path.clone()],
    }
}

fn moment<'a>(need: &Need<'a>, fields: &Fields) -> &'a str {
    let Resource::Blob { moment: Some(moment), .. } = need.resource else { return "" };
    match (said(&fields.sr), moment) {
        (Some("bs"), Moment::Snapshot(text)) | (Some("bv"), Moment::Version(text)) => text,
        _ => "",
    }
}

fn signed_request(request: &StorageRequest, fields: &Fields) -> SignedRequest {
    let header = |name: &str| request.header(name).map(Into::into);
    SignedRequest::of(fields, header, |name: &str| request.query.literal(name))
}

/// The user's key was made for this service, and is valid now.
fn check_delegation(request: &StorageRequest, fields: &Fields) -> Result<(), StorageError> {
    let letter = super::grant::service_letter(request.service);
    if !said(&fields.sks).is_some_and(|services| services.contains(letter)) {
        return Err(StorageError::service_mismatch());
    }
    check_times(request, said(&fields.skt), said(&fields.ske))
}

/// What the signature leaves to the policy, the policy says; nothing is said by both. Gives the permissions.
fn by_policy(
    request: &StorageRequest,
    need: &Need<'_>,
    rules: &dyn Rules,
    fields: &Fields,
    id: &str,
) -> Result<String, StorageError> {
    let container = match request.service {
        ServiceKind::Table => said(&fields.tn),
        ServiceKind::Blob | ServiceKind::Queue => need.resource.container(),
    };
    let policy = rules.policy(container.unwrap_or_default(), id)?;
    let missing = || StorageError::authentication_failed(format!("There is no stored access policy '{id}'."));
    let AccessPolicy { start, expiry, permission } = policy.ok_or_else(missing)?;
    let start = start.map(|time| time.text);
    let expiry = expiry.map(|time| time.text);
    let time = |own, stored| one_of(own, stored);
    check_times(
        request,
        time(said(&fields.st), start.as_deref())?,
        time(said(&fields.se), expiry.as_deref())?,
    )?;
    let permission = one_of(said(&fields.sp), permission.as_deref())?;
    permission.map(str::to_owned).ok_or_else(|| mandatory("sp"))
}

fn one_of<'a>(own: Option<&'a str>, stored: Option<&'a str>) -> Result<Option<&'a str>, StorageError> {
    if own.is_some() && stored.is_some() {
        let detail = "Access policy fields can be associated with signature or SAS identifier but not both";
        return Err(StorageError::authentication_failed(detail));
    }
    Ok(own.or(stored))
}
