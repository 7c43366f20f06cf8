//! Batches: up to 256 deletes, or changes of tier, in one request (wire guide §9.3).
//!
//! Each part is a request of its own, with a credential of its own, and is answered as if it had come alone; a part that fails
//! undoes nothing. How clients write and read the parts differs, so both sides are lenient in what they read and exact in what
//! they write.

use crate::answer::Answer;
use crate::call::Call;
use crate::errors::Failure;
use crate::limits::{BATCH_BYTES_MAX, BATCH_PARTS_MAX};
use crate::operation::{OnBlob, Operation};
use crate::reply;
use crate::service::{Blobs, operation_of};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use orrery_api_storage::{StorageError, header as common};
use orrery_catalog::storage::{BlobContainerName, ServiceKind};

pub async fn run(
    blobs: &Blobs,
    call: &mut Call,
    container: Option<&BlobContainerName>,
) -> Result<Response<Answer>, Failure> {
    let given = call.request.header(CONTENT_TYPE).unwrap_or_default();
    let boundary =
        boundary(given).ok_or_else(|| StorageError::invalid_header(CONTENT_TYPE.as_str(), given))?;
    let body = call.document(BATCH_BYTES_MAX).await?;
    let parts = read(&body, &boundary)?;
    let mut heads = Vec::with_capacity(parts.len());
    for part in parts {
        heads.push(head(call, part)?);
    }
    check_one_operation(&heads)?;
    let id = blobs.store.env().guid();
    let mut out = String::new();
    for (at, (content_id, head)) in heads.into_iter().enumerate() {
        let content_id = content_id.unwrap_or_else(|| at.to_string());
        let answer = Box::pin(answer(blobs, call, head, container)).await;
        write_part(&mut out, &id, &content_id, answer);
    }
    out.push_str(&format!("--batchresponse_{id}--\r\n"));
    let mut response = reply::empty(StatusCode::ACCEPTED);
    *response.body_mut() = Answer::whole(Bytes::from(out));
    reply::insert(&mut response, CONTENT_TYPE, &format!("multipart/mixed; boundary=batchresponse_{id}"));
    Ok(response)
}

fn boundary(content_type: &str) -> Option<String> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/mixed") {
        return None;
    }
    let mut pairs = parameters.split(';').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("boundary"))?;
    Some(value.trim().trim_matches('"').to_owned()).filter(|boundary| !boundary.is_empty())
}

/// One part as text: its own headers, the line of the request and the headers of the request.
struct Part<'a> {
    content_id: Option<&'a str>,
    line: &'a str,
    headers: Vec<(&'a str, &'a str)>,
}

fn read<'a>(body: &'a [u8], boundary: &str) -> Result<Vec<Part<'a>>, Failure> {
    let text = std::str::from_utf8(body).map_err(|_| invalid("It is not text."))?;
    let opening = format!("--{boundary}");
    let mut parts = Vec::new();
    for piece in text.split(opening.as_str()).skip(1) {
        if piece.starts_with("--") {
            break;
        }
        if parts.len() == BATCH_PARTS_MAX {
            let message = format!("A batch has at most {BATCH_PARTS_MAX} requests.");
            return Err(
                StorageError::new(StatusCode::BAD_REQUEST, "ExceedsMaxBatchRequestCount", message).into()
            );
        }
        parts.push(part(piece)?);
    }
    if parts.is_empty() {
        return Err(invalid("It has no parts."));
    }
    Ok(parts)
}

fn part(piece: &str) -> Result<Part<'_>, Failure> {
    let mut lines = piece.lines().skip(1);
    let mut content_id = None;
    for line in lines.by_ref().take_while(|line| !line.trim().is_empty()) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if name.trim().eq_ignore_ascii_case("content-id") {
            content_id = Some(value.trim());
        }
    }
    let line = lines.by_ref().map(str::trim).find(|line| !line.is_empty());
    let line = line.ok_or_else(|| invalid("A part has no request."))?;
    let headers = lines.take_while(|line| !line.trim().is_empty()).filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.trim(), value.trim())).collect();
    Ok(Part { content_id, line, headers })
}

fn invalid(why: &str) -> Failure {
    StorageError::invalid_input(format!("The batch cannot be read. {why}")).into()
}

/// The part as a request; its host is that of the batch, and so is its version, if it says none.
fn head(call: &Call, part: Part<'_>) -> Result<(Option<String>, Parts), Failure> {
    let mut words = part.line.split(' ').filter(|word| !word.is_empty());
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(invalid("A part has no line of a request."));
    };
    let method: Method = method.parse().map_err(|_| invalid("A method is not known."))?;
    // One client leaves a question mark behind a path without a query.
    let target = target.strip_suffix('?').unwrap_or(target);
    let mut request =
        Request::builder().method(method).uri(target).body(()).map_err(|_| invalid("A path is not one."))?;
    for (name, value) in part.headers {
        let header = name.parse::<HeaderName>().ok().zip(HeaderValue::from_str(value).ok());
        let (name, value) = header.ok_or_else(|| invalid("A header is not one."))?;
        request.headers_mut().append(name, value);
    }
    let outer = &call.request.head;
    if let Some(host) = outer.headers.get(HOST) {
        request.headers_mut().entry(HOST).or_insert_with(|| host.clone());
    } else if let Some(authority) = outer.uri.authority() {
        let host = HeaderValue::from_str(authority.as_str()).map_err(|_| StorageError::invalid_uri())?;
        request.headers_mut().entry(HOST).or_insert(host);
    }
    Ok((part.content_id.map(str::to_owned), request.into_parts().0))
}

/// A batch deletes, or it sets tiers.
fn check_one_operation(heads: &[(Option<String>, Parts)]) -> Result<(), Failure> {
    let mut methods = heads.iter().map(|(_, head)| &head.method);
    let first = methods.next();
    if methods.any(|method| Some(method) != first) {
        let message = "All requests of a batch must be of one kind.";
        return Err(StorageError::new(StatusCode::BAD_REQUEST, "AllRequestsMustBeSameType", message).into());
    }
    Ok(())
}

async fn answer(
    blobs: &Blobs,
    call: &Call,
    head: Parts,
    container: Option<&BlobContainerName>,
) -> Response<Answer> {
    let inherits = !head.headers.contains_key(common::VERSION);
    let mut envelope = blobs.storage.begin(&head.headers);
    let read = blobs.storage.read(ServiceKind::Blob, head, call.request.peer.clone(), &mut envelope);
    let mut request = match read {
        Ok(request) => request,
        Err(error) => {
            let mut response = error.into_xml(&envelope).map(Answer::from);
            envelope.finish(response.headers_mut());
            return response;
        }
    };
    if inherits {
        request.envelope.version = call.request.version();
        request.has_version = true;
    }
    let refusal = match operation_of(&request) {
        Ok(Operation::Blob { does: OnBlob::Delete | OnBlob::SetTier, container: of, .. })
            if request.account == call.request.account
                && container.is_none_or(|container| container.as_str() == of) =>
        {
            return blobs.respond(Call::without_body(request)).await;
        }
        Ok(Operation::Blob { does: OnBlob::Delete | OnBlob::SetTier, .. }) => {
            StorageError::invalid_input("A request of a batch is about another container or account.")
        }
        Ok(_) => {
            StorageError::invalid_input("A batch deletes blobs or sets their tiers, and does nothing else.")
        }
        Err(Failure(error)) => error,
    };
    let mut response = refusal.into_xml(&request.envelope).map(Answer::from);
    request.envelope.finish(response.headers_mut());
    response
}

fn write_part(out: &mut String, id: &str, content_id: &str, response: Response<Answer>) {
    let (head, body) = response.into_parts();
    let body = body.into_whole();
    let reason = head.status.canonical_reason().unwrap_or_default();
    out.push_str(&format!(
        "--batchresponse_{id}\r\nContent-Type: application/http\r\nContent-ID: {content_id}\r\n\r\nHTTP/1.1 {} {reason}\r\n",
        head.status.as_u16()
    ));
    for (name, value) in &head.headers {
        if let Ok(value) = value.to_str() {
            out.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    out.push_str("\r\n");
    if !body.is_empty() {
        out.push_str(&String::from_utf8_lossy(&body));
        out.push_str("\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_as_clients_write_them() {
        // Python's: one block of headers, a question mark left behind, two blank lines at the end.
        let python = "--batch_1\r\nContent-Type: application/http\r\nContent-ID: 0\r\nContent-Transfer-Encoding: binary\r\n\r\n\
            DELETE /acct/c/b? HTTP/1.1\r\nx-ms-date: x\r\nAuthorization: SharedKey a:b\r\n\r\n\r\n--batch_1--";
        let parts = read(python.as_bytes(), "batch_1").expect("parts");
        assert_eq!(parts.len(), 1);
        assert_eq!((parts[0].content_id, parts[0].line), (Some("0"), "DELETE /acct/c/b? HTTP/1.1"));
        assert_eq!(parts[0].headers, [("x-ms-date", "x"), ("Authorization", "SharedKey a:b")]);
        let code =
            |body: &str| read(body.as_bytes(), "batch_1").map(|_| ()).map_err(|Failure(error)| error.code);
        assert_eq!(code(""), Err("InvalidInput"));
        let many = "--batch_1\r\n\r\nDELETE /a/c/b HTTP/1.1\r\n\r\n".repeat(257);
        assert_eq!(code(&many), Err("ExceedsMaxBatchRequestCount"));
    }

    #[test]
    fn a_boundary_is_a_parameter_of_the_type() {
        assert_eq!(boundary("multipart/mixed; boundary=batch_1").as_deref(), Some("batch_1"));
        assert_eq!(boundary("multipart/mixed;boundary=\"b 1\"").as_deref(), Some("b 1"));
        assert_eq!(boundary("application/xml; boundary=x"), None);
        assert_eq!(boundary("multipart/mixed"), None);
    }
}
