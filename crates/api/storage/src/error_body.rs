//! How a refusal is written: XML for blobs and queues, one line of JSON for tables (wire guide §4.3).

use crate::envelope::Envelope;
use crate::error::StorageError;
use crate::header;
use crate::xml;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, Response};
use orrery_api_common::{Body, body};
use orrery_protocol::storage::format_time;

const XML: HeaderValue = HeaderValue::from_static("application/xml");
const JSON: HeaderValue =
    HeaderValue::from_static("application/json;odata=minimalmetadata;streaming=true;charset=utf-8");

impl StorageError {
    /// The answer of the blob and queue services; without the standard headers, which [`Envelope::finish`] puts on it.
    pub fn into_xml(self, envelope: &Envelope) -> Response<Body> {
        let document = self.xml_body(envelope);
        self.answer(XML, document)
    }

    /// The answer of the table service.
    pub fn into_odata(self, envelope: &Envelope) -> Response<Body> {
        let line = self.odata_body(envelope);
        self.answer(JSON, line)
    }

    /// `<Error>` with the code, the message and the details.
    pub fn xml_body(&self, envelope: &Envelope) -> Bytes {
        let mut writer = xml::Writer::new();
        writer.element("Error", |error| {
            error.text("Code", self.code);
            error.text("Message", &self.message_text(envelope));
            for (name, value) in &self.details {
                error.text(name, value);
            }
        });
        writer.finish()
    }

    /// `{"odata.error":…}` on one line. Clients take other members for another kind of body, so what is a detail in XML
    /// is a sentence of the message here.
    pub fn odata_body(&self, envelope: &Envelope) -> Bytes {
        let mut error = self.clone();
        if let Some((_, detail)) = self.details.iter().find(|(name, _)| *name == "AuthenticationErrorDetail")
        {
            error.message = format!("{}\n{detail}", self.message).into();
        }
        let message = serde_json::json!({ "lang": "en-US", "value": error.message_text(envelope) });
        let body = serde_json::json!({ "odata.error": { "code": self.code, "message": message } });
        body.to_string().into()
    }

    fn message_text(&self, envelope: &Envelope) -> String {
        let time = format_time(envelope.now);
        format!("{}\nRequestId:{}\nTime:{time}", self.message, envelope.request_id)
    }

    fn answer(self, content_type: HeaderValue, text: Bytes) -> Response<Body> {
        let mut response = Response::new(body(text));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, content_type);
        headers.insert(header::ERROR_CODE, HeaderValue::from_static(self.code));
        if let Some(challenge) = self.challenge {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixture;
    use http::HeaderMap;

    fn envelope() -> Envelope {
        let mut envelope = fixture().storage.begin(&HeaderMap::new());
        envelope.request_id = "an-id".to_owned();
        envelope
    }

    #[test]
    fn blobs_and_queues_are_refused_in_xml() {
        let error = StorageError::invalid_header("x-ms-version", "a<b");
        assert_eq!(
            error.xml_body(&envelope()),
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>InvalidHeaderValue</Code><Message>The value for one of \
             the HTTP headers is not in the correct format.\nRequestId:an-id\nTime:2026-11-15T01:02:43.0000000Z</Message>\
             <HeaderName>x-ms-version</HeaderName><HeaderValue>a&lt;b</HeaderValue></Error>"
        );
        let response = error.into_xml(&envelope());
        assert_eq!(response.headers()["x-ms-error-code"], "InvalidHeaderValue");
        assert_eq!((response.status().as_u16(), &response.headers()["content-type"]), (400, &XML));
    }

    #[test]
    fn tables_are_refused_in_one_line_of_json() {
        let error = StorageError::not_found();
        assert_eq!(
            error.odata_body(&envelope()),
            r#"{"odata.error":{"code":"ResourceNotFound","message":{"lang":"en-US","value":"The specified resource does not exist.\nRequestId:an-id\nTime:2026-11-15T01:02:43.0000000Z"}}}"#
        );
        let detailed = StorageError::authentication_failed("why\nnot").odata_body(&envelope());
        let text = String::from_utf8(detailed.to_vec()).expect("text");
        assert!(text.contains(r"signature.\nwhy\nnot\nRequestId:an-id") && !text.contains('\n'), "{text}");
        assert_eq!(error.into_odata(&envelope()).headers()["content-type"], JSON);
    }
}
