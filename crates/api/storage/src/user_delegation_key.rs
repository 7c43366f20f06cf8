//! Keys with which users sign in their own name: `comp=userdelegationkey` (wire guide §3.4).
//!
//! A key follows from the folder's secret, from the fields that describe it and from the role of the user, so none is kept. The
//! role is in it so that a signature never allows what its user was not allowed.

use crate::authorize::{Caller, Grant, Role, delegator};
use crate::error::StorageError;
use crate::limits::DELEGATION_KEY_SECONDS_MAX;
use crate::request::StorageRequest;
use crate::storage::Storage;
use crate::xml::{self, Element, Writer};
use bytes::Bytes;
use orrery_api_common::Key;
use orrery_core::Timestamp;
use orrery_protocol::storage::sas::Fields;
use orrery_protocol::storage::{format_time_seconds, parse_time};

/// The answer to somebody who was allowed [`Action::DelegationKey`](crate::Action::DelegationKey).
pub fn issue(
    storage: &Storage,
    request: &StorageRequest,
    grant: &Grant,
    body: &[u8],
) -> Result<Bytes, StorageError> {
    let Caller::Token { principal, roles } = &grant.caller else {
        let detail = "A key for user delegation is given for a bearer token only.";
        return Err(StorageError::authentication_failed(detail));
    };
    let role = delegator(roles, request.service, request.account.as_str())
        .ok_or_else(StorageError::permission_mismatch)?;
    let wanted = KeyInfo::read(body, request.now())?;
    let fields = Fields {
        skoid: Some(principal.id.clone()),
        sktid: Some(storage.options().tenant.clone()),
        skt: Some(format_time_seconds(wanted.start)),
        ske: Some(format_time_seconds(wanted.expiry)),
        sks: Some(crate::authorize::service_letter(request.service).to_string()),
        skv: Some(request.version().to_string()),
        skdutid: wanted.user_tenant,
        ..Fields::default()
    };
    let (value, _) = derive(storage, request.account.as_str(), role, &fields);
    Ok(write(&fields, &value))
}

/// The key that these fields describe (`skoid`, `sktid`, `skt`, `ske`, `sks`, `skv`, `skdutid`), in Base64 and ready to sign.
pub(crate) fn derive(storage: &Storage, account: &str, role: Role, fields: &Fields) -> (String, Key) {
    let described =
        [&fields.skoid, &fields.sktid, &fields.skt, &fields.ske, &fields.sks, &fields.skv, &fields.skdutid];
    let mut lines = vec!["a key of a user", account, role.word()];
    lines.extend(described.map(|field| field.as_deref().unwrap_or_default()));
    let secret = Key::from_bytes(storage.accounts().delegation_secret()).expect("a secret has bytes");
    // No field of a signature has a line feed.
    let text = secret.sign(&lines.join("\n"));
    let key = Key::parse(&text).expect("a signature is Base64");
    (text, key)
}

struct KeyInfo {
    start: Timestamp,
    expiry: Timestamp,
    /// The directory of the only user who may use what is signed.
    user_tenant: Option<String>,
}

impl KeyInfo {
    fn read(body: &[u8], now: Timestamp) -> Result<Self, StorageError> {
        let root = xml::read(body)?;
        root.named("KeyInfo")?;
        let start = root.child("Start").map(time).transpose()?.unwrap_or(now);
        root.required("Expiry")?;
        let element = root.child("Expiry").expect("it is required");
        let expiry = time(element)?;
        let refused = |reason: &str| Err(StorageError::invalid_xml_value("Expiry", &element.text, reason));
        if expiry <= start || expiry <= now {
            return refused("The key would never be valid.");
        }
        if expiry.seconds() - now.max(start).seconds() > DELEGATION_KEY_SECONDS_MAX {
            return refused("A key is valid for at most 7 days.");
        }
        let user_tenant = root.text_of("DelegatedUserTid").filter(|text| !text.is_empty());
        Ok(Self { start, expiry, user_tenant: user_tenant.map(str::to_owned) })
    }
}

fn time(element: &Element) -> Result<Timestamp, StorageError> {
    let refused = || {
        let reason = "This is not a time in UTC, as ISO 8601 has it.";
        StorageError::invalid_xml_value(&element.name, &element.text, reason)
    };
    parse_time(&element.text).ok_or_else(refused)
}

fn write(fields: &Fields, value: &str) -> Bytes {
    let mut writer = Writer::new();
    writer.element("UserDelegationKey", |root| {
        let named = [
            ("SignedOid", &fields.skoid),
            ("SignedTid", &fields.sktid),
            ("SignedStart", &fields.skt),
            ("SignedExpiry", &fields.ske),
            ("SignedService", &fields.sks),
            ("SignedVersion", &fields.skv),
            ("SignedDelegatedUserTid", &fields.skdutid),
        ];
        for (name, field) in named {
            if let Some(text) = field {
                root.text(name, text);
            }
        }
        root.text("Value", value);
    });
    writer.finish()
}
