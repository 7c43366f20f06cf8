//! Who asks, and what they may: the outcome of [`authorize`](crate::Storage::authorize).
//!
//! A grant was judged for one need. Where one request does several things, as a batch does, it is asked again for each.

use super::need::{Letters, Level, Need, Resource};
use super::roles::{self, Role};
use super::table_range::TableRange;
use crate::error::StorageError;
use crate::request::StorageRequest;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};
use orrery_api_common::bearer::{self, Principal};
use orrery_catalog::storage::{AccountName, ServiceKind};
use orrery_protocol::storage::sas::{Kind, Sas};

/// How somebody showed who they are.
#[derive(Clone, Debug)]
pub enum Caller {
    /// With a key of the account: everything.
    Key,
    /// With a signature that somebody made for them.
    Sas(Box<Sas>),
    /// With a token of an issuer, and the roles that they have.
    Token { principal: Principal, roles: Vec<bearer::Grant> },
    /// Not at all; the resource is public.
    Anonymous,
}

#[derive(Clone, Debug)]
pub struct Grant {
    pub caller: Caller,
    pub(super) service: ServiceKind,
    pub(super) account: AccountName,
    /// The permissions of a signature: its own, or those of the stored access policy that it names.
    pub(super) permissions: String,
    pub(super) range: Option<TableRange>,
    /// The role of the user who signed, whose signature allows nothing that the role does not.
    pub(super) delegator: Option<Role>,
}

impl Grant {
    pub(super) fn new(request: &StorageRequest, caller: Caller) -> Self {
        let (service, account) = (request.service, request.account.clone());
        Self { caller, service, account, permissions: String::new(), range: None, delegator: None }
    }

    /// Whether it is enough for this, too.
    pub fn permit(&self, need: &Need<'_>) -> Result<(), StorageError> {
        match &self.caller {
            Caller::Key => Ok(()),
            Caller::Sas(sas) if sas.kind == Kind::Account => self.permit_account(sas, need),
            Caller::Sas(sas) => self.permit_resource(sas, need),
            Caller::Token { roles, .. } => {
                let resource = need.resource.container();
                if roles::allow(roles, self.service, self.account.as_str(), resource, need.action) {
                    return Ok(());
                }
                Err(StorageError::permission_mismatch())
            }
            // What is public is so for the need that was judged, and for nothing else.
            Caller::Anonymous if !need.is_write => Ok(()),
            Caller::Anonymous => Err(StorageError::permission_mismatch()),
        }
    }

    /// The keys of a table that may be read and written; all, if None.
    pub fn table_range(&self) -> Option<&TableRange> {
        self.range.as_ref()
    }

    /// Headers that the answer to a GET has by the signature's word.
    pub fn response_headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let Caller::Sas(sas) = &self.caller else { return Vec::new() };
        let fields = &sas.fields;
        let given = [
            (CACHE_CONTROL, &fields.rscc),
            (CONTENT_DISPOSITION, &fields.rscd),
            (CONTENT_ENCODING, &fields.rsce),
            (CONTENT_LANGUAGE, &fields.rscl),
            (CONTENT_TYPE, &fields.rsct),
        ];
        let header = |(name, text): (HeaderName, &Option<String>)| {
            let text = text.as_deref().filter(|text| !text.is_empty())?;
            HeaderValue::from_str(text).ok().map(|value| (name, value))
        };
        given.into_iter().filter_map(header).collect()
    }

    fn permit_account(&self, sas: &Sas, need: &Need<'_>) -> Result<(), StorageError> {
        let has =
            |field: &Option<String>, letter: char| field.as_deref().unwrap_or_default().contains(letter);
        if !has(&sas.fields.ss, service_letter(self.service)) {
            return Err(StorageError::service_mismatch());
        }
        if !has(&sas.fields.srt, level_letter(need.level)) {
            return Err(StorageError::resource_type_mismatch());
        }
        self.check_letters(need.account)
    }

    fn permit_resource(&self, sas: &Sas, need: &Need<'_>) -> Result<(), StorageError> {
        self.check_letters(need.service)?;
        if self.delegator.is_some_and(|role| !role.allows(need.action, self.service)) {
            return Err(StorageError::permission_mismatch());
        }
        if covers(sas, &need.resource) { Ok(()) } else { Err(StorageError::authorization_failure()) }
    }

    fn check_letters(&self, groups: Letters) -> Result<(), StorageError> {
        if groups.is_empty() {
            return Err(StorageError::authorization_failure());
        }
        let is_granted = |group: &&str| group.chars().all(|letter| self.permissions.contains(letter));
        if groups.iter().any(is_granted) { Ok(()) } else { Err(StorageError::permission_mismatch()) }
    }
}

pub(crate) fn service_letter(service: ServiceKind) -> char {
    match service {
        ServiceKind::Blob => 'b',
        ServiceKind::Queue => 'q',
        ServiceKind::Table => 't',
    }
}

fn level_letter(level: Level) -> char {
    match level {
        Level::Service => 's',
        Level::Container => 'c',
        Level::Object => 'o',
    }
}

/// Whether what was signed contains what is asked for. The names themselves are in what was signed, but a table's, and
/// whether a container was meant or one blob of it.
fn covers(sas: &Sas, resource: &Resource<'_>) -> bool {
    let kind = sas.fields.sr.as_deref().unwrap_or_default();
    match resource {
        Resource::Account => false,
        Resource::Queue(_) => true,
        Resource::Table(name) => {
            sas.fields.tn.as_deref().is_some_and(|table| table.eq_ignore_ascii_case(name))
        }
        Resource::Container(_) => kind == "c",
        Resource::Blob { .. } => true,
    }
}
