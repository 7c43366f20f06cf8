//! Signatures with the account's read-write and read-only keys (wire guide §4.1).

use super::operation::Operation;
use crate::failure::Failure;
use crate::header;
use crate::limits;
use crate::request::Request;
use crate::route::Located;
use http::header::DATE;
use http::{HeaderMap, HeaderName, Method};
use orrery_api_common::{Access, Keys, string_to_sign};
use orrery_core::{ClientKeyRid, ContainerRid, DatabaseRid, Env, ItemRid, PermissionRid, Timestamp, UserRid};
use std::time::Duration;

/// Whether one of the account's keys signed the request, and permits it.
pub fn check(
    request: &Request,
    located: &Located<'_>,
    operation: Operation,
    signature: &str,
    keys: &Keys,
    env: &Env,
) -> Result<(), Failure> {
    let access = signed_by(request.method(), located, &request.head.headers, signature, keys, env)?;
    if access == Access::ReadOnly && operation.needs_a_writing_key() {
        return Err(Failure::forbidden(
            "The key that signed this request is read-only; use a read-write key.",
        ));
    }
    Ok(())
}

/// The access of the key that signed the request.
pub fn signed_by(
    method: &Method,
    located: &Located<'_>,
    headers: &HeaderMap,
    signature: &str,
    keys: &Keys,
    env: &Env,
) -> Result<Access, Failure> {
    let text =
        |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map_or("", str::trim);
    let (x_ms_date, date) = (text(&header::DATE), text(&DATE));
    if x_ms_date.is_empty() && date.is_empty() {
        return Err(Failure::unauthorized("The header x-ms-date is missing; send the date that was signed."));
    }
    let access = verify(method, located, x_ms_date, date, keys, signature)?;
    check_date(if x_ms_date.is_empty() { date } else { x_ms_date }, env)?;
    Ok(access)
}

fn verify(
    method: &Method,
    located: &Located<'_>,
    x_ms_date: &str,
    date: &str,
    keys: &Keys,
    signature: &str,
) -> Result<Access, Failure> {
    let payload = |link: &str| string_to_sign(method.as_str(), &located.resource_type, link, x_ms_date, date);
    let by_name = payload(&located.link);
    let by_rid = rid_link(&located.link).map(|link| payload(&link));
    let access = match &by_rid {
        None => keys.verify(&[&by_name], signature),
        Some(by_rid) => keys.verify(&[&by_name, by_rid], signature),
    };
    access.ok_or_else(|| {
        let signed = by_name.replace('\n', "\\n");
        Failure::unauthorized(format!(
            "The input authorization token can't serve the request. Please check that the expected payload is built as per \
             the protocol, and check the key being used. Server used the following payload to sign: '{signed}'"
        ))
    })
}

/// A link by resource ids is signed as its last id alone, in lower case. That id must contain its ancestors'
/// ids: otherwise one signature would cover the same last segment under any database and container.
fn rid_link(link: &str) -> Option<String> {
    let segments: Vec<&str> = link.split('/').collect();
    let container = |database: &str, container: &str| {
        let (database, rid) = (DatabaseRid::parse(database).ok()?, ContainerRid::parse(container).ok()?);
        (rid.database == database).then_some(rid)
    };
    let user = |database: &str, user: &str| {
        let (database, rid) = (DatabaseRid::parse(database).ok()?, UserRid::parse(user).ok()?);
        (rid.database == database).then_some(rid)
    };
    let is_nested = match segments[..] {
        ["dbs", d] => DatabaseRid::parse(d).is_ok(),
        ["dbs", d, "colls", c] => container(d, c).is_some(),
        ["dbs", d, "colls", c, _, i] => {
            container(d, c).is_some_and(|c| ItemRid::parse(i).is_ok_and(|i| i.container == c))
        }
        ["dbs", d, "users", u] => user(d, u).is_some(),
        ["dbs", d, "users", u, "permissions", p] => {
            user(d, u).is_some_and(|u| PermissionRid::parse(p).is_ok_and(|p| p.user == u))
        }
        ["dbs", d, "clientencryptionkeys", k] => {
            let key = ClientKeyRid::parse(k);
            key.is_ok_and(|key| DatabaseRid::parse(d).is_ok_and(|database| key.database == database))
        }
        _ => false,
    };
    let last = segments.last().filter(|_| is_nested)?;
    Some(last.to_lowercase())
}

/// Under a manual clock dates are meaningless.
fn check_date(date: &str, env: &Env) -> Result<(), Failure> {
    if env.is_manual() {
        return Ok(());
    }
    let skew_max = Duration::from_secs(limits::DATE_SKEW_SECONDS_MAX);
    match Timestamp::parse_http(date) {
        Some(at) if at.abs_diff(env.now()) <= skew_max => Ok(()),
        Some(_) => Err(Failure::forbidden(format!(
            "The authorization token is not valid at the current time: its date is '{date}', the server's is '{}'. Set the clock.",
            env.now().to_http()
        ))),
        None => Err(Failure::forbidden(format!("The date '{date}' is not in RFC 1123 form."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::ResourceKind;

    #[test]
    fn a_signature_by_resource_id_covers_one_path() {
        let database = DatabaseRid(7);
        let container = ContainerRid::new(database, 3);
        let item = ItemRid::new(container, ResourceKind::Item, 9).to_string();
        let user = UserRid::new(database, 4);
        let permission = PermissionRid { user, ordinal: 5 }.to_string();
        let check = |link: String, last: Option<&str>| {
            assert_eq!(rid_link(&link), last.map(str::to_lowercase), "{link}");
        };
        check(format!("dbs/{database}"), Some(&database.to_string()));
        check(format!("dbs/{database}/colls/{container}"), Some(&container.to_string()));
        check(format!("dbs/{database}/colls/{container}/docs/{item}"), Some(&item));
        check(format!("dbs/{database}/users/{user}/permissions/{permission}"), Some(&permission));
        // A last segment that does not contain the others could belong to any parent.
        check(format!("dbs/{database}/colls/{container}/docs/name"), None);
        check(format!("dbs/{database}/colls/name/docs/{item}"), None);
        check(format!("dbs/{}/colls/{container}/docs/{item}", DatabaseRid(8)), None);
        check(format!("dbs/{database}/colls/{}/docs/{item}", ContainerRid::new(database, 2)), None);
        check(format!("dbs/{}/users/{user}/permissions/{permission}", DatabaseRid(8)), None);
        check("dbs/shop/colls/orders".to_owned(), None);
        check(String::new(), None);
    }
}
