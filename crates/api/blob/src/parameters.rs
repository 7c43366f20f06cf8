//! Parameters of the query and ranges, each within its limits.

use crate::errors::Failure;
use crate::header;
use http::header::RANGE;
use orrery_api_storage::{Moment, StorageError, StorageRequest};
use orrery_blob_store::model::Selector;
use orrery_blob_store::model::operations::{ByteRange, RangeRequest};
use orrery_core::Ticks;

/// Which of its states a request is about: `snapshot` or `versionid`.
pub fn selector(request: &StorageRequest) -> Result<Selector, Failure> {
    let moment = |name: &str| match request.query(name).filter(|text| !text.is_empty()) {
        None => Ok(None),
        Some(text) => Ticks::parse(&text)
            .map(Some)
            .ok_or_else(|| StorageError::invalid_query(name, &text, "It is no moment in UTC.")),
    };
    match (moment("snapshot")?, moment("versionid")?) {
        (None, None) => Ok(Selector::Current),
        (Some(snapshot), None) => Ok(Selector::Snapshot(snapshot)),
        (None, Some(version)) => Ok(Selector::Version(version)),
        (Some(_), Some(_)) => {
            let reason = "A request is about a snapshot or about a version, and not about both.";
            Err(StorageError::invalid_query("versionid", "", reason).into())
        }
    }
}

/// The same as the texts that signatures are about.
pub fn moment(request: &StorageRequest) -> Option<(bool, String)> {
    let text = |name| request.query(name).filter(|text| !text.is_empty()).map(|text| text.into_owned());
    let snapshot = text("snapshot").map(|text| (false, text));
    snapshot.or_else(|| text("versionid").map(|text| (true, text)))
}

pub fn as_moment(moment: Option<&(bool, String)>) -> Option<Moment<'_>> {
    moment.map(|(is_version, text)| if *is_version { Moment::Version(text) } else { Moment::Snapshot(text) })
}

/// A parameter that clients also send empty when they mean none.
pub fn text(request: &StorageRequest, name: &str) -> Option<String> {
    request.query(name).filter(|text| !text.is_empty()).map(|text| text.into_owned())
}

/// A number of results from 1 up; more than `max` are as many as `max`.
pub fn results_max(request: &StorageRequest, max: i64) -> Result<Option<usize>, Failure> {
    const NAME: &str = "maxresults";
    let Some(given) = text(request, NAME) else { return Ok(None) };
    let number: i64 =
        given.parse().map_err(|_| StorageError::invalid_query(NAME, &given, "It is not a whole number."))?;
    if number < 1 {
        return Err(StorageError::out_of_range_query(NAME, &given, 1, max).into());
    }
    Ok(Some(number.min(max) as usize))
}

/// The bytes that are asked for; none if all are. Ranges of a form that the service does not have are ignored.
pub fn range(request: &StorageRequest) -> Option<RangeRequest> {
    let text = request.header(header::RANGE).or_else(|| request.header(RANGE))?;
    range_of(text)
}

fn range_of(text: &str) -> Option<RangeRequest> {
    let (start, last) = text.trim().strip_prefix("bytes=")?.split_once('-')?;
    let start = start.trim().parse().ok()?;
    let last = match last.trim() {
        "" => None,
        last => Some(last.parse().ok().filter(|last| *last >= start)?),
    };
    Some(RangeRequest { start, last })
}

/// The range of pages that a write is about, which must have an end.
pub fn page_range(request: &StorageRequest) -> Result<ByteRange, Failure> {
    let missing = || StorageError::missing_header(header::RANGE.as_str());
    let text = request.header(header::RANGE).or_else(|| request.header(RANGE)).ok_or_else(missing)?;
    let found = range_of(text).and_then(|range| Some((range.start, range.last?.checked_add(1)?)));
    let (start, end) = found.ok_or_else(|| StorageError::invalid_header(header::RANGE.as_str(), text))?;
    Ok(ByteRange { start, end })
}

/// The bytes of the source of a copy.
pub fn source_range(request: &StorageRequest) -> Result<Option<RangeRequest>, Failure> {
    let Some(text) = request.header(header::SOURCE_RANGE) else { return Ok(None) };
    let refused = || StorageError::invalid_header(header::SOURCE_RANGE.as_str(), text).into();
    range_of(text).map(Some).ok_or_else(refused)
}

/// A header that is `true` or not.
pub fn is_true(request: &StorageRequest, name: &http::HeaderName) -> bool {
    request.header(name).is_some_and(|text| text.eq_ignore_ascii_case("true"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_a_beginning_and_may_have_an_end() {
        let range = |text: &str| range_of(text).map(|range| (range.start, range.last));
        assert_eq!(range("bytes=0-33554431"), Some((0, Some(33_554_431))));
        assert_eq!(range("bytes=5-"), Some((5, None)));
        for text in ["bytes=-5", "bytes=5-4", "bytes=a-b", "5-6", "bytes=", "bytes=1-2,4-5"] {
            assert_eq!(range(text), None, "{text}");
        }
    }
}
