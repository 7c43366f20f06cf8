//! Stored access policies as XML: `<SignedIdentifiers>` (wire guide §5.8).

use crate::authorize::permissions_of_policies;
use crate::error::StorageError;
use crate::xml::{self, Element, Writer};
use bytes::Bytes;
use orrery_catalog::storage::{
    AccessPolicy, AccessPolicyError, PolicyTime, ServiceKind, SignedIdentifier, SignedIdentifiers,
};
use orrery_protocol::storage::parse_time;

/// Reads the body of `comp=acl`. An empty body has no policies.
pub fn read(service: ServiceKind, body: &[u8]) -> Result<SignedIdentifiers, StorageError> {
    if body.is_empty() {
        return Ok(SignedIdentifiers::default());
    }
    let root = xml::read(body)?;
    root.named("SignedIdentifiers")?;
    let policies = root.children.iter().map(|child| identifier(service, child)).collect::<Result<_, _>>()?;
    SignedIdentifiers::new(policies).map_err(|error| match error {
        AccessPolicyError::TooMany | AccessPolicyError::IdLength | AccessPolicyError::Duplicate(_) => {
            StorageError::invalid_xml(error.to_string())
        }
    })
}

pub fn write(policies: &SignedIdentifiers) -> Bytes {
    let mut writer = Writer::new();
    writer.element("SignedIdentifiers", |list| {
        for SignedIdentifier { id, policy } in policies.iter() {
            list.element("SignedIdentifier", |inside| {
                inside.text("Id", id);
                inside.element("AccessPolicy", |inside| write_policy(inside, policy));
            });
        }
    });
    writer.finish()
}

fn write_policy(writer: &mut Writer, policy: &AccessPolicy) {
    let time = |time: &Option<PolicyTime>| time.as_ref().map(|time| time.text.clone());
    let all = [
        ("Start", time(&policy.start)),
        ("Expiry", time(&policy.expiry)),
        ("Permission", policy.permission.clone()),
    ];
    for (name, text) in all {
        if let Some(text) = text {
            writer.text(name, &text);
        }
    }
}

fn identifier(service: ServiceKind, element: &Element) -> Result<SignedIdentifier, StorageError> {
    element.named("SignedIdentifier")?;
    element.only(&["Id", "AccessPolicy"])?;
    let id = element.required("Id")?.to_owned();
    let policy = match element.child("AccessPolicy") {
        None => AccessPolicy::default(),
        Some(policy) => {
            policy.only(&["Start", "Expiry", "Permission"])?;
            AccessPolicy {
                start: time(policy, "Start")?,
                expiry: time(policy, "Expiry")?,
                permission: permission(service, policy)?,
            }
        }
    };
    Ok(SignedIdentifier { id, policy })
}

/// An element without text says as little as one that is missing.
fn text<'a>(policy: &'a Element, name: &str) -> Option<&'a str> {
    policy.text_of(name).map(str::trim).filter(|text| !text.is_empty())
}

fn time(policy: &Element, name: &str) -> Result<Option<PolicyTime>, StorageError> {
    let Some(text) = text(policy, name) else { return Ok(None) };
    let refused = || StorageError::invalid_xml_value(name, text, "It is no time in UTC, as ISO 8601 has it.");
    parse_time(text).map(|at| Some(PolicyTime::new(text, at))).ok_or_else(refused)
}

fn permission(service: ServiceKind, policy: &Element) -> Result<Option<String>, StorageError> {
    let Some(text) = text(policy, "Permission") else { return Ok(None) };
    let known = permissions_of_policies(service);
    if text.chars().all(|letter| known.contains(letter)) {
        return Ok(Some(text.to_owned()));
    }
    let reason = format!("Permissions are letters of '{known}'.");
    Err(StorageError::invalid_xml_value("Permission", text, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_of(inside: &str) -> Result<String, String> {
        let body = format!(
            "<?xml version='1.0' encoding='utf-8'?>\n<SignedIdentifiers>{inside}</SignedIdentifiers>"
        );
        let policies = read(ServiceKind::Table, body.as_bytes()).map_err(|error| error.code.to_owned())?;
        assert_eq!(
            read(ServiceKind::Table, &write(&policies)),
            Ok(policies.clone()),
            "what is written is read back"
        );
        let written = String::from_utf8(write(&policies).to_vec()).expect("text");
        Ok(written.split_once("?>").expect("a declaration").1.to_owned())
    }

    fn one(id: &str, policy: &str) -> String {
        format!("<SignedIdentifier><Id>{id}</Id>{policy}</SignedIdentifier>")
    }

    #[test]
    fn policies_are_given_back_as_they_were_written() {
        let policy = "<AccessPolicy><Start>2026-11-15T00:00:00.0000000Z</Start><Expiry>2026-11-16</Expiry>\
                      <Permission>raud</Permission></AccessPolicy>";
        let whole = format!("<SignedIdentifiers>{}</SignedIdentifiers>", one("p &amp; q", policy));
        assert_eq!(read_of(&one("p &amp; q", policy)), Ok(whole));
        assert_eq!(read_of(""), Ok("<SignedIdentifiers />".to_owned()));
        assert_eq!(read(ServiceKind::Queue, b""), Ok(SignedIdentifiers::default()));
    }

    #[test]
    fn a_policy_may_leave_everything_open() {
        let open = "<SignedIdentifiers><SignedIdentifier><Id>p</Id><AccessPolicy /></SignedIdentifier></SignedIdentifiers>";
        for policy in
            ["", "<AccessPolicy/>", "<AccessPolicy><Start/><Permission></Permission></AccessPolicy>"]
        {
            assert_eq!(read_of(&one("p", policy)).as_deref(), Ok(open));
        }
    }

    #[test]
    fn what_is_no_list_of_policies_is_refused() {
        let check = |inside: &str, code: &str| assert_eq!(read_of(inside), Err(code.to_owned()), "{inside}");
        let policy = |inside: &str| one("p", &format!("<AccessPolicy>{inside}</AccessPolicy>"));
        check(&one("p", "").repeat(2), "InvalidXmlDocument");
        check(&(0..6).map(|at| one(&at.to_string(), "")).collect::<String>(), "InvalidXmlDocument");
        check(&one("", ""), "InvalidXmlDocument");
        check(&one(&"x".repeat(65), ""), "InvalidXmlDocument");
        check("<SignedIdentifier/>", "InvalidXmlDocument");
        check("<Other/>", "InvalidXmlDocument");
        check("<SignedIdentifier>", "InvalidXmlDocument");
        check(&policy("<Start>tomorrow</Start>"), "InvalidXmlNodeValue");
        check(&policy("<Permission>rz</Permission>"), "InvalidXmlNodeValue");
        check(&policy("<Permissions>r</Permissions>"), "InvalidXmlDocument");
    }
}
