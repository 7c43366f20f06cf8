//! What a request asks for, known from its head alone, and what it needs to be allowed (wire guide §3.6, §6.1).

use crate::errors::NoOperation;
use http::Method;
use orrery_api_storage::{Action, Letters, Level, Need, Resource};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    ReadProperties,
    WriteProperties,
    ReadStatistics,
    /// A key with which a user signs in their own name.
    IssueDelegationKey,
    ListQueues,
    OnQueue {
        queue: String,
        does: OnQueue,
    },
    OnMessages {
        queue: String,
        does: OnMessages,
    },
    OnMessage {
        queue: String,
        id: String,
        does: OnMessage,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnQueue {
    Create,
    Delete,
    ReadMetadata,
    WriteMetadata,
    ReadPolicies,
    WritePolicies,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMessages {
    Put,
    Get,
    Peek,
    Clear,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMessage {
    Update,
    Delete,
}

/// The parts of a query that choose what is meant, in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    pub comp: Option<String>,
    pub restype: Option<String>,
    pub peek_only: bool,
}

impl Operation {
    /// `segments` are those of the path after the account.
    pub fn of(segments: &[&str], method: &Method, choice: &Choice) -> Result<Self, NoOperation> {
        match segments {
            [] => Self::on_account(method, choice),
            [queue] => {
                let does = OnQueue::of(method, choice.comp.as_deref())?;
                Ok(Self::OnQueue { queue: (*queue).to_owned(), does })
            }
            [queue, "messages"] => {
                let does = OnMessages::of(method, choice.peek_only)?;
                Ok(Self::OnMessages { queue: (*queue).to_owned(), does })
            }
            [queue, "messages", id] => {
                let does = OnMessage::of(method)?;
                Ok(Self::OnMessage { queue: (*queue).to_owned(), id: (*id).to_owned(), does })
            }
            _ => Err(NoOperation::Path),
        }
    }

    fn on_account(method: &Method, choice: &Choice) -> Result<Self, NoOperation> {
        match (choice.restype.as_deref(), choice.comp.as_deref()) {
            (None | Some("account"), Some("list")) if method == Method::GET => Ok(Self::ListQueues),
            (Some("service"), Some("properties")) if method == Method::GET => Ok(Self::ReadProperties),
            (Some("service"), Some("properties")) if method == Method::PUT => Ok(Self::WriteProperties),
            (Some("service"), Some("stats")) if method == Method::GET => Ok(Self::ReadStatistics),
            (Some("service"), Some("userdelegationkey")) if method == Method::POST => {
                Ok(Self::IssueDelegationKey)
            }
            (None, Some("list")) | (Some("service"), Some("properties" | "stats" | "userdelegationkey")) => {
                Err(NoOperation::Verb)
            }
            (_, None) => Err(NoOperation::ComponentMissing),
            (_, Some(_)) => Err(NoOperation::Component),
        }
    }

    pub fn need(&self) -> Need<'_> {
        match self {
            Self::ReadProperties | Self::ReadStatistics => {
                need(Level::Service, Resource::Account, &["r"], &[], Action::ReadService)
            }
            Self::WriteProperties => {
                changing(need(Level::Service, Resource::Account, &["w"], &[], Action::WriteService))
            }
            Self::IssueDelegationKey => {
                need(Level::Service, Resource::Account, &[], &[], Action::DelegationKey)
            }
            Self::ListQueues => need(Level::Service, Resource::Account, &["l"], &[], Action::ReadResource),
            Self::OnQueue { queue, does } => does.need(Resource::Queue(queue)),
            Self::OnMessages { queue, does } => does.need(Resource::Queue(queue)),
            Self::OnMessage { queue, does, .. } => does.need(Resource::Queue(queue)),
        }
    }
}

impl OnQueue {
    fn of(method: &Method, comp: Option<&str>) -> Result<Self, NoOperation> {
        let is_read = method == Method::GET || method == Method::HEAD;
        match comp {
            None if method == Method::PUT => Ok(Self::Create),
            None if method == Method::DELETE => Ok(Self::Delete),
            None if is_read => Err(NoOperation::ComponentMissing),
            Some("metadata") if is_read => Ok(Self::ReadMetadata),
            Some("metadata") if method == Method::PUT => Ok(Self::WriteMetadata),
            Some("acl") if is_read => Ok(Self::ReadPolicies),
            Some("acl") if method == Method::PUT => Ok(Self::WritePolicies),
            None | Some("metadata" | "acl") => Err(NoOperation::Verb),
            Some(_) => Err(NoOperation::Component),
        }
    }

    fn need(self, queue: Resource<'_>) -> Need<'_> {
        let on_queue = |account, service, action| need(Level::Container, queue, account, service, action);
        match self {
            Self::Create => changing(on_queue(&["c", "w"], &[], Action::WriteResource)),
            Self::Delete => changing(on_queue(&["d"], &[], Action::DeleteResource)),
            Self::ReadMetadata => on_queue(&["r"], &["r"], Action::ReadResource),
            Self::WriteMetadata => changing(on_queue(&["w"], &[], Action::WriteResource)),
            Self::ReadPolicies => on_queue(&[], &[], Action::ReadPolicies),
            Self::WritePolicies => changing(on_queue(&[], &[], Action::WritePolicies)),
        }
    }
}

impl OnMessages {
    fn of(method: &Method, peek_only: bool) -> Result<Self, NoOperation> {
        match (method, peek_only) {
            (&Method::POST, _) => Ok(Self::Put),
            (&Method::GET, false) => Ok(Self::Get),
            (&Method::GET, true) => Ok(Self::Peek),
            (&Method::DELETE, _) => Ok(Self::Clear),
            _ => Err(NoOperation::Verb),
        }
    }

    fn need(self, queue: Resource<'_>) -> Need<'_> {
        let on_messages = |account, service, action| need(Level::Object, queue, account, service, action);
        match self {
            Self::Put => changing(on_messages(&["a"], &["a"], Action::AddData)),
            Self::Get => changing(on_messages(&["p"], &["p"], Action::ProcessMessages)),
            Self::Peek => on_messages(&["r"], &["r"], Action::ReadData),
            Self::Clear => changing(on_messages(&["d"], &[], Action::DeleteData)),
        }
    }
}

impl OnMessage {
    fn of(method: &Method) -> Result<Self, NoOperation> {
        match *method {
            Method::PUT => Ok(Self::Update),
            Method::DELETE => Ok(Self::Delete),
            _ => Err(NoOperation::Verb),
        }
    }

    fn need(self, queue: Resource<'_>) -> Need<'_> {
        let on_message = |letters, action| need(Level::Object, queue, letters, letters, action);
        changing(match self {
            Self::Update => on_message(&["u"], Action::WriteData),
            Self::Delete => on_message(&["p"], Action::ProcessMessages),
        })
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

    /// `POST /q/messages?comp=x`
    fn of(line: &str) -> Result<Operation, NoOperation> {
        let (method, target) = line.split_once(" /").expect("a method and a path");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let value = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(found, _)| *found == name).map(|(_, value)| value.to_owned()).next()
        };
        let choice =
            Choice { comp: value("comp"), restype: value("restype"), peek_only: value("peekonly").is_some() };
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        Operation::of(&segments, &method.parse().expect("a method"), &choice)
    }

    #[test]
    fn every_route_is_an_operation() {
        let check = |line: &str, expected: Operation| assert_eq!(of(line), Ok(expected), "{line}");
        let queue = || "q".to_owned();
        check("GET /?comp=list", Operation::ListQueues);
        check("GET /?restype=service&comp=properties", Operation::ReadProperties);
        check("PUT /?restype=service&comp=properties", Operation::WriteProperties);
        check("GET /?restype=service&comp=stats", Operation::ReadStatistics);
        check("POST /?restype=service&comp=userdelegationkey", Operation::IssueDelegationKey);
        let on_queue = |does| Operation::OnQueue { queue: queue(), does };
        check("PUT /q", on_queue(OnQueue::Create));
        check("DELETE /q", on_queue(OnQueue::Delete));
        check("HEAD /q?comp=metadata", on_queue(OnQueue::ReadMetadata));
        check("PUT /q?comp=metadata", on_queue(OnQueue::WriteMetadata));
        check("GET /q?comp=acl", on_queue(OnQueue::ReadPolicies));
        check("PUT /q?comp=acl", on_queue(OnQueue::WritePolicies));
        let on_messages = |does| Operation::OnMessages { queue: queue(), does };
        check("POST /q/messages", on_messages(OnMessages::Put));
        check("GET /q/messages", on_messages(OnMessages::Get));
        check("GET /q/messages?peekonly=true", on_messages(OnMessages::Peek));
        check("DELETE /q/messages", on_messages(OnMessages::Clear));
        let on_message = |does| Operation::OnMessage { queue: queue(), id: "7".into(), does };
        check("PUT /q/messages/7", on_message(OnMessage::Update));
        check("DELETE /q/messages/7", on_message(OnMessage::Delete));
    }

    #[test]
    fn what_is_no_route_says_why() {
        let check = |line: &str, expected: NoOperation| assert_eq!(of(line), Err(expected), "{line}");
        check("GET /", NoOperation::ComponentMissing);
        check("POST /?comp=list", NoOperation::Verb);
        check("GET /?restype=service&comp=acl", NoOperation::Component);
        check("GET /q", NoOperation::ComponentMissing);
        check("POST /q", NoOperation::Verb);
        check("PUT /q?comp=lease", NoOperation::Component);
        check("PATCH /q/messages", NoOperation::Verb);
        check("GET /q/messages/7", NoOperation::Verb);
        check("GET /q/other", NoOperation::Path);
        check("GET /q/messages/7/8", NoOperation::Path);
    }

    #[test]
    fn getting_messages_is_a_write_and_peeking_is_none() {
        let is_write = |line: &str| of(line).expect("an operation").need().is_write;
        assert!(is_write("GET /q/messages") && is_write("DELETE /q/messages"));
        assert!(!is_write("GET /q/messages?peekonly=true") && !is_write("GET /?comp=list"));
    }
}
