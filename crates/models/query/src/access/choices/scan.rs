//! Reading all documents.

use crate::access::choose::{Choice, Question};
use crate::access::cost;
use crate::access::way::Access;
use crate::error::QueryError;

pub(super) fn offer(question: &Question<'_>) -> Result<Vec<Choice>, QueryError> {
    let cost = cost::scan(question.scales.documents, question.share());
    Ok(vec![Choice { access: Access::Scan, cost }])
}
