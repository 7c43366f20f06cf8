//! What a request asks for, known from its head alone, and what it needs to be allowed (wire guide §3.6, §7.1, §8.1).

use crate::errors::NoOperation;
use http::Method;
use orrery_api_storage::{Action, Letters, Level, Moment, Need, Resource};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    Account(OnAccount),
    Container { container: String, does: OnContainer },
    Blob { container: String, name: String, does: OnBlob },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnAccount {
    ListContainers,
    ReadProperties,
    WriteProperties,
    ReadStatistics,
    ReadInformation,
    IssueDelegationKey,
    FindBlobs,
    Batch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnContainer {
    Create,
    Read,
    Delete,
    Restore,
    WriteMetadata,
    ReadPolicies,
    WritePolicies,
    Lease,
    ListBlobs,
    FindBlobs,
    Batch,
    ReadInformation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnBlob {
    Get,
    ReadProperties,
    Put,
    PutFromUrl,
    CopyNow,
    Copy,
    AbortCopy,
    Delete,
    StageBlock,
    StageBlockFromUrl,
    CommitBlocks,
    ReadBlocks,
    AppendBlock,
    AppendBlockFromUrl,
    Seal,
    WritePages,
    WritePagesFromUrl,
    ReadPages,
    WriteMetadata,
    ReadMetadata,
    WriteProperties,
    Lease,
    Snapshot,
    Undelete,
    SetTier,
    ReadTags,
    WriteTags,
    SetImmutability,
    DeleteImmutability,
    SetLegalHold,
    ReadInformation,
}

/// The parts of a head that choose what is meant, in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    pub comp: Option<String>,
    pub restype: Option<String>,
    /// `x-ms-copy-source` is there.
    pub has_source: bool,
    /// `x-ms-blob-type` is there.
    pub has_type: bool,
    /// `x-ms-requires-sync: true`
    pub requires_sync: bool,
}

/// Blobs without a container are in it.
const ROOT: &str = "$root";

impl Operation {
    /// `path` is what follows the account, decoded, in the two pieces before and after the first slash.
    pub fn of(
        container: &str,
        name: Option<&str>,
        method: &Method,
        choice: &Choice,
    ) -> Result<Self, NoOperation> {
        let name = name.filter(|name| !name.is_empty());
        match (container, name) {
            ("", None) => OnAccount::of(method, choice).map(Self::Account),
            ("", Some(_)) => Err(NoOperation::Path),
            (container, Some(name)) => {
                let does = OnBlob::of(method, choice)?;
                Ok(Self::Blob { container: container.to_owned(), name: name.to_owned(), does })
            }
            (container, None) if is_container(choice) => {
                let does = OnContainer::of(method, choice)?;
                Ok(Self::Container { container: container.to_owned(), does })
            }
            (name, None) => {
                let does = OnBlob::of(method, choice)?;
                Ok(Self::Blob { container: ROOT.to_owned(), name: name.to_owned(), does })
            }
        }
    }

    pub fn need<'a>(&'a self, moment: Option<Moment<'a>>) -> Need<'a> {
        match self {
            Self::Account(does) => does.need(),
            Self::Container { container, does } => does.need(container),
            Self::Blob { container, name, does } => does
                .need(Resource::Blob { container, name, moment }, matches!(moment, Some(Moment::Version(_)))),
        }
    }
}

fn is_container(choice: &Choice) -> bool {
    choice.restype.as_deref() == Some("container")
        || (choice.restype.as_deref() == Some("account"))
        || matches!(choice.comp.as_deref(), Some("list" | "acl" | "batch" | "blobs"))
}

impl OnAccount {
    fn of(method: &Method, choice: &Choice) -> Result<Self, NoOperation> {
        let is_read = method == Method::GET || method == Method::HEAD;
        let known = match (choice.restype.as_deref(), choice.comp.as_deref()) {
            (None | Some("account"), Some("list")) => (is_read, Self::ListContainers),
            (Some("service"), Some("properties")) if method == Method::PUT => (true, Self::WriteProperties),
            (Some("service"), Some("properties")) => (is_read, Self::ReadProperties),
            (Some("service"), Some("stats")) => (is_read, Self::ReadStatistics),
            (Some("account"), Some("properties")) => (is_read, Self::ReadInformation),
            (Some("service"), Some("userdelegationkey")) => {
                (method == Method::POST, Self::IssueDelegationKey)
            }
            (_, Some("blobs")) => (is_read, Self::FindBlobs),
            (_, Some("batch")) => (method == Method::POST, Self::Batch),
            (_, None) => return Err(NoOperation::ComponentMissing),
            (_, Some(_)) => return Err(NoOperation::Component),
        };
        if known.0 { Ok(known.1) } else { Err(NoOperation::Verb) }
    }

    fn need(self) -> Need<'static> {
        let of = |level, account, action| need(level, Resource::Account, account, &[], action);
        match self {
            Self::ListContainers => of(Level::Service, &["l"], Action::ReadResource),
            Self::ReadProperties | Self::ReadStatistics => of(Level::Service, &["r"], Action::ReadService),
            Self::WriteProperties => changing(of(Level::Service, &["w"], Action::WriteService)),
            Self::ReadInformation => {
                Need { service: &[""], ..of(Level::Service, &[""], Action::ReadService) }
            }
            Self::IssueDelegationKey => of(Level::Service, &[], Action::DelegationKey),
            Self::FindBlobs => of(Level::Service, &["f"], Action::ReadData),
            // Each part is judged by itself; whoever asks must be somebody.
            Self::Batch => Need { service: &[""], ..of(Level::Service, &[""], Action::ReadData) },
        }
    }
}

impl OnContainer {
    fn of(method: &Method, choice: &Choice) -> Result<Self, NoOperation> {
        let is_read = method == Method::GET || method == Method::HEAD;
        let is_put = method == Method::PUT;
        let known = match choice.comp.as_deref() {
            None if is_put => (true, Self::Create),
            None if method == Method::DELETE => (true, Self::Delete),
            None => (is_read, Self::Read),
            Some("metadata") if is_put => (true, Self::WriteMetadata),
            Some("metadata") => (is_read, Self::Read),
            Some("acl") if is_put => (true, Self::WritePolicies),
            Some("acl") => (is_read, Self::ReadPolicies),
            Some("lease") => (is_put, Self::Lease),
            Some("list") => (is_read, Self::ListBlobs),
            Some("blobs") => (is_read, Self::FindBlobs),
            Some("batch") => (method == Method::POST, Self::Batch),
            Some("undelete") => (is_put, Self::Restore),
            Some("properties") if choice.restype.as_deref() == Some("account") => {
                (is_read, Self::ReadInformation)
            }
            Some("rename") => return Err(NoOperation::Absent("containers are not renamed")),
            Some(_) => return Err(NoOperation::Component),
        };
        if known.0 { Ok(known.1) } else { Err(NoOperation::Verb) }
    }

    fn need(self, container: &str) -> Need<'_> {
        let on = |level, account, service, action| {
            need(level, Resource::Container(container), account, service, action)
        };
        match self {
            Self::Create => changing(on(Level::Container, &["c", "w"], &[], Action::WriteResource)),
            Self::Delete => changing(on(Level::Container, &["d"], &[], Action::DeleteResource)),
            Self::Restore => changing(on(Level::Container, &["w"], &[], Action::WriteResource)),
            Self::Read => on(Level::Container, &["r"], &[], Action::ReadResource),
            Self::WriteMetadata => changing(on(Level::Container, &["w"], &[], Action::WriteResource)),
            Self::Lease => changing(on(Level::Container, &["w", "d"], &[], Action::WriteResource)),
            Self::ReadPolicies => on(Level::Container, &[], &[], Action::ReadPolicies),
            Self::WritePolicies => changing(on(Level::Container, &[], &[], Action::WritePolicies)),
            Self::ListBlobs => on(Level::Container, &["l"], &["l"], Action::ReadData),
            Self::FindBlobs => on(Level::Container, &["f"], &["f"], Action::ReadData),
            Self::Batch => on(Level::Container, &[""], &[""], Action::ReadData),
            Self::ReadInformation => on(Level::Service, &[""], &[""], Action::ReadService),
        }
    }
}

impl OnBlob {
    fn of(method: &Method, choice: &Choice) -> Result<Self, NoOperation> {
        match *method {
            Method::GET | Method::HEAD => Self::reading(method, choice.comp.as_deref()),
            Method::PUT => Self::putting(choice),
            Method::DELETE => match choice.comp.as_deref() {
                None => Ok(Self::Delete),
                Some("immutabilitypolicies") => Ok(Self::DeleteImmutability),
                Some(_) => Err(NoOperation::Component),
            },
            Method::POST if choice.comp.as_deref() == Some("query") => {
                Err(NoOperation::Absent("contents are queried by reading them"))
            }
            _ => Err(NoOperation::Verb),
        }
    }

    fn reading(method: &Method, comp: Option<&str>) -> Result<Self, NoOperation> {
        Ok(match comp {
            None if method == Method::HEAD => Self::ReadProperties,
            None => Self::Get,
            Some("metadata") => Self::ReadMetadata,
            Some("blocklist") => Self::ReadBlocks,
            Some("pagelist") => Self::ReadPages,
            Some("tags") => Self::ReadTags,
            Some("properties") => Self::ReadInformation,
            Some(_) => return Err(NoOperation::Component),
        })
    }

    fn putting(choice: &Choice) -> Result<Self, NoOperation> {
        Ok(match choice.comp.as_deref() {
            None => match choice {
                Choice { has_source: false, .. } => Self::Put,
                Choice { has_type: true, .. } => Self::PutFromUrl,
                Choice { requires_sync: true, .. } => Self::CopyNow,
                _ => Self::Copy,
            },
            Some("block") if choice.has_source => Self::StageBlockFromUrl,
            Some("block") => Self::StageBlock,
            Some("blocklist") => Self::CommitBlocks,
            Some("page") if choice.has_source => Self::WritePagesFromUrl,
            Some("page") => Self::WritePages,
            Some("appendblock") if choice.has_source => Self::AppendBlockFromUrl,
            Some("appendblock") => Self::AppendBlock,
            Some("seal") => Self::Seal,
            Some("metadata") => Self::WriteMetadata,
            Some("properties") => Self::WriteProperties,
            Some("lease") => Self::Lease,
            Some("snapshot") => Self::Snapshot,
            Some("undelete") => Self::Undelete,
            Some("tier") => Self::SetTier,
            Some("tags") => Self::WriteTags,
            Some("copy") => Self::AbortCopy,
            Some("immutabilitypolicies") => Self::SetImmutability,
            Some("legalhold") => Self::SetLegalHold,
            Some("incrementalcopy") => {
                return Err(NoOperation::Absent("incremental copies of page blobs; copy a snapshot instead"));
            }
            Some("expiry") => {
                return Err(NoOperation::Absent("blobs expire by a lifecycle policy; accounts are flat"));
            }
            Some(_) => return Err(NoOperation::Component),
        })
    }

    fn need(self, blob: Resource<'_>, of_version: bool) -> Need<'_> {
        let on = |letters, action| need(Level::Object, blob, letters, letters, action);
        match self {
            Self::Get | Self::ReadProperties | Self::ReadMetadata | Self::ReadBlocks | Self::ReadPages => {
                on(&["r"], Action::ReadData)
            }
            Self::ReadInformation => on(&[""], Action::ReadService),
            Self::Put | Self::PutFromUrl | Self::CopyNow | Self::Copy | Self::CommitBlocks => {
                changing(on(&["w", "c"], Action::WriteData))
            }
            Self::StageBlock | Self::StageBlockFromUrl => changing(on(&["w", "c"], Action::WriteData)),
            Self::AppendBlock | Self::AppendBlockFromUrl => changing(on(&["a", "w"], Action::AddData)),
            Self::Snapshot => changing(on(&["c", "w"], Action::WriteData)),
            Self::Lease => changing(on(&["w", "d"], Action::WriteData)),
            Self::Delete if of_version => changing(on(&["x"], Action::DeleteData)),
            Self::Delete => changing(on(&["d"], Action::DeleteData)),
            Self::ReadTags => on(&["t"], Action::ReadData),
            Self::WriteTags => changing(on(&["t"], Action::WriteData)),
            Self::SetImmutability | Self::DeleteImmutability | Self::SetLegalHold => {
                changing(on(&["i", "w"], Action::WriteData))
            }
            Self::AbortCopy
            | Self::Seal
            | Self::WritePages
            | Self::WritePagesFromUrl
            | Self::WriteMetadata
            | Self::WriteProperties
            | Self::Undelete
            | Self::SetTier => changing(on(&["w"], Action::WriteData)),
        }
    }

    /// Whether it is open to everybody where blobs are (wire guide §3.8).
    pub fn is_public_read(self) -> bool {
        matches!(
            self,
            Self::Get | Self::ReadProperties | Self::ReadMetadata | Self::ReadBlocks | Self::ReadPages
        )
    }

    /// Whether a signature that may only create allows it, as long as nothing is there.
    pub fn may_create(self) -> bool {
        matches!(self, Self::Put | Self::PutFromUrl | Self::CopyNow | Self::Copy | Self::CommitBlocks)
    }
}

impl OnContainer {
    /// Whether it is open to everybody where containers are.
    pub fn is_public_read(self) -> bool {
        matches!(self, Self::Read | Self::ListBlobs)
    }
}

fn need<'a>(
    level: Level,
    resource: Resource<'a>,
    account: Letters,
    service: Letters,
    action: Action,
) -> Need<'a> {
    Need { level, resource, account, service, action, is_write: false }
}

fn changing(need: Need<'_>) -> Need<'_> {
    Need { is_write: true, ..need }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `PUT /c/b?comp=block`, and headers that choose behind it.
    fn of(line: &str) -> Result<Operation, NoOperation> {
        let (method, rest) = line.split_once(' ').expect("a method");
        let (rest, flags) = rest.split_once(" +").unwrap_or((rest, ""));
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let value = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
        };
        let choice = Choice {
            comp: value("comp"),
            restype: value("restype"),
            has_source: flags.contains("source"),
            has_type: flags.contains("type"),
            requires_sync: flags.contains("sync"),
        };
        let path = path.trim_start_matches('/');
        let (container, name) = path.split_once('/').map_or((path, None), |(c, n)| (c, Some(n)));
        Operation::of(container, name, &method.parse().expect("a method"), &choice)
    }

    #[test]
    fn accounts_and_containers_have_their_operations() {
        let account = |line: &str, does| assert_eq!(of(line), Ok(Operation::Account(does)), "{line}");
        account("GET /?comp=list", OnAccount::ListContainers);
        account("PUT /?restype=service&comp=properties", OnAccount::WriteProperties);
        account("GET /?restype=account&comp=properties", OnAccount::ReadInformation);
        account("POST /?restype=service&comp=userdelegationkey", OnAccount::IssueDelegationKey);
        account("GET /?comp=blobs", OnAccount::FindBlobs);
        account("POST /?comp=batch", OnAccount::Batch);
        let container = |line: &str, does| {
            let expected = Operation::Container { container: "c".into(), does };
            assert_eq!(of(line), Ok(expected), "{line}");
        };
        container("PUT /c?restype=container", OnContainer::Create);
        container("HEAD /c?restype=container", OnContainer::Read);
        container("GET /c/?restype=container", OnContainer::Read);
        container("DELETE /c?restype=container", OnContainer::Delete);
        container("GET /c?comp=list&restype=container", OnContainer::ListBlobs);
        container("PUT /c?restype=container&comp=undelete", OnContainer::Restore);
        container("PUT /c?restype=container&comp=acl", OnContainer::WritePolicies);
    }

    #[test]
    fn a_put_is_one_of_many() {
        let check = |line: &str, does| {
            let expected = Operation::Blob { container: "c".into(), name: "a/b".into(), does };
            assert_eq!(of(line), Ok(expected), "{line}");
        };
        check("PUT /c/a/b +type", OnBlob::Put);
        check("PUT /c/a/b", OnBlob::Put);
        check("PUT /c/a/b +source type", OnBlob::PutFromUrl);
        check("PUT /c/a/b +source sync", OnBlob::CopyNow);
        check("PUT /c/a/b +source", OnBlob::Copy);
        check("PUT /c/a/b?comp=block&blockid=x", OnBlob::StageBlock);
        check("PUT /c/a/b?comp=block&blockid=x +source", OnBlob::StageBlockFromUrl);
        check("PUT /c/a/b?comp=tier", OnBlob::SetTier);
        check("DELETE /c/a/b", OnBlob::Delete);
        check("HEAD /c/a/b", OnBlob::ReadProperties);
    }

    #[test]
    fn a_blob_without_a_container_is_in_the_root() {
        let expected = Operation::Blob { container: "$root".into(), name: "b".into(), does: OnBlob::Get };
        assert_eq!(of("GET /b"), Ok(expected));
    }

    #[test]
    fn what_is_no_operation_says_why() {
        let check = |line: &str, expected: NoOperation| assert_eq!(of(line), Err(expected), "{line}");
        check("GET /", NoOperation::ComponentMissing);
        check("POST /?comp=list", NoOperation::Verb);
        check("GET /?comp=other", NoOperation::Component);
        check("PATCH /c/b", NoOperation::Verb);
        check("PUT /c/b?comp=other", NoOperation::Component);
        check("POST /c?restype=container", NoOperation::Verb);
    }

    #[test]
    fn deleting_a_version_wants_a_letter_of_its_own() {
        let delete = of("DELETE /c/b").expect("an operation");
        assert_eq!(delete.need(None).service, ["d"]);
        assert_eq!(delete.need(Some(Moment::Version("2026"))).service, ["x"]);
    }
}
