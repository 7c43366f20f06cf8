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
