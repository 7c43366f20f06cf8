//! The outcome of one operation of a batch, and its encoding in the response.

use crate::failure::Failure;
use crate::reply::Reply;
use http::StatusCode;
use orrery_core::ETag;
use orrery_document_store::OperationOutcome;
use orrery_documents::batch::StepOutcome;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::ItemRow;
use orrery_value::raw;

pub struct Outcome {
    status: StatusCode,
    substatus: u32,
    charge: Charge,
    etag: Option<ETag>,
    item: Option<ItemRow>,
    retry_after_ms: Option<u64>,
    message: Option<String>,
    /// Schema violations of the written item.
    warnings: u64,
}

impl Outcome {
    fn new(status: StatusCode, charge: Charge) -> Self {
        Self {
            status,
            substatus: 0,
            charge,
            etag: None,
            item: None,
            retry_after_ms: None,
            message: None,
            warnings: 0,
        }
    }

    pub fn of(outcome: OperationOutcome, wants_minimal: bool) -> Self {
        let charge = outcome.charge();
        match outcome {
            OperationOutcome::Done(done) => Self::done(done, charge, wants_minimal),
            OperationOutcome::Failed(error) => Self::failed(&error.into(), charge),
            OperationOutcome::NotTried => Self::new(StatusCode::FAILED_DEPENDENCY, charge),
        }
    }

    fn done(done: StepOutcome, charge: Charge, wants_minimal: bool) -> Self {
        match done {
            StepOutcome::Written(effect) => {
                let status = if effect.is_new { StatusCode::CREATED } else { StatusCode::OK };
                let (etag, warnings) = (Some(effect.item.etag()), effect.warnings);
                let item = (!wants_minimal).then_some(effect.item);
                Self { etag, item, warnings, ..Self::new(status, charge) }
            }
            StepOutcome::Read(item) => {
                Self { etag: Some(item.etag()), item: Some(item), ..Self::new(StatusCode::OK, charge) }
            }
            StepOutcome::NotModified(item) => {
                Self { etag: Some(item.etag()), ..Self::new(StatusCode::NOT_MODIFIED, charge) }
            }
            StepOutcome::Deleted(_) => Self::new(StatusCode::NO_CONTENT, charge),
        }
    }

    fn failed(failure: &Failure, charge: Charge) -> Self {
        Self {
            substatus: failure.substatus,
            retry_after_ms: failure.retry_after_ms,
            message: Some(failure.clipped_message().into_owned()),
            ..Self::new(failure.status, charge)
        }
    }

    fn is_failure(&self) -> bool {
        self.status.as_u16() >= 400
    }

    fn write(&self, container: &Container, out: &mut Vec<u8>) {
        let head = format!("{{\"statusCode\":{},\"requestCharge\":{}", self.status.as_u16(), self.charge);
        out.extend_from_slice(head.as_bytes());
        if self.substatus != 0 {
            // Clients read it under different spellings.
            let code = self.substatus;
            out.extend_from_slice(format!(",\"subStatusCode\":{code},\"substatusCode\":{code}").as_bytes());
        }
        if let Some(etag) = self.etag {
            out.extend_from_slice(b",\"eTag\":");
            raw::escape_into(&etag.to_string(), out);
        }
        if let Some(wait) = self.retry_after_ms {
            out.extend_from_slice(format!(",\"retryAfterMilliseconds\":{wait}").as_bytes());
        }
        if let Some(message) = &self.message {
            out.extend_from_slice(b",\"message\":");
            raw::escape_into(message, out);
        }
        if let Some(item) = &self.item {
            out.extend_from_slice(b",\"resourceBody\":");
            item.write_json(container, out);
        }
        out.push(b'}');
    }
}

/// The response to the whole batch: 200 if nothing failed, with the total charge.
pub fn reply(container: &Container, outcomes: &[Outcome]) -> Reply {
    let size: usize =
        outcomes.iter().map(|o| 384 + o.item.as_ref().map_or(0, |item| item.text_length())).sum();
    let mut body = Vec::with_capacity(size);
    body.push(b'[');
    for (index, outcome) in outcomes.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        outcome.write(container, &mut body);
    }
    body.push(b']');
    let has_failure = outcomes.iter().any(Outcome::is_failure);
    let status = if has_failure { StatusCode::MULTI_STATUS } else { StatusCode::OK };
    let warnings = outcomes.iter().map(|outcome| outcome.warnings).sum();
    Reply::new(status, outcomes.iter().map(|outcome| outcome.charge).sum()).warnings(warnings).json(body)
}
