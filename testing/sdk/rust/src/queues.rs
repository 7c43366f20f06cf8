//! The SDK of queues over one transport. It takes no account key: its clients are given signatures that are made here.

use crate::cosmos::{Cosmos, fresh};
use crate::facts::bearer::Fixed;
use crate::server::Server;
use azure_core::credentials::{Secret, TokenCredential};
use azure_core::hmac::hmac_sha256;
use azure_core::http::{ClientOptions, NoFormat, Response, RetryOptions, Transport, Url, XmlFormat};
use azure_core::time::{Duration, OffsetDateTime, to_rfc3339};
use azure_storage_queue::models::{
    PeekedMessage, QueueClientCreateOptions, QueueClientGetPropertiesResultHeaders,
    QueueClientPeekMessagesOptions, QueueClientReceiveMessagesOptions, QueueClientSendMessageOptions,
    QueueMessage, ReceivedMessage, SentMessage,
};
use azure_storage_queue::{QueueClient, QueueServiceClient, QueueServiceClientOptions};
use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, OnceLock};

pub const ACCOUNT: &str = "devstoreaccount1";
pub const KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const AUDIENCE: &str = "https://storage.azure.com/";
const VERSION: &str = "2025-11-05";
/// Later than any clock of a test.
const NEVER: &str = "2999-01-01T00:00:00Z";

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

pub struct Queues {
    pub server: Arc<Server>,
    scheme: &'static str,
}

/// What a signature says, beside the queue that it is for.
#[derive(Default)]
pub struct Signature<'a> {
    pub permissions: &'a str,
    pub start: &'a str,
    pub expiry: &'a str,
    pub policy: &'a str,
    pub protocol: &'a str,
}

impl Queues {
    pub fn of(cosmos: &Cosmos) -> Self {
        Self { server: cosmos.server.clone(), scheme: cosmos.scheme() }
    }

    /// The service, with a signature of the account that allows everything.
    pub fn service(&self) -> Result<QueueServiceClient> {
        self.service_with(&account_signature("rwdlacup", "sco")?)
    }

    /// The service, with a signature of the account.
    pub fn service_with(&self, signature: &str) -> Result<QueueServiceClient> {
        let url = format!("{}?{signature}", self.server.queue_endpoint(self.scheme, ACCOUNT)?);
        Ok(QueueServiceClient::new(url.parse()?, None, Some(options()?))?)
    }

    /// The replica, which tells how it is.
    pub fn replica(&self) -> Result<QueueServiceClient> {
        let endpoint = self.server.queue_endpoint(self.scheme, &format!("{ACCOUNT}-secondary"))?;
        let url = format!("{endpoint}?{}", account_signature("r", "s")?);
        Ok(QueueServiceClient::new(url.parse()?, None, Some(options()?))?)
    }

    /// The service for somebody with a role; the SDK sends their token over https only.
    pub fn service_as(&self, role: &str) -> Result<QueueServiceClient> {
        let token = self.server.token(&["--audience", AUDIENCE, "--role", role])?;
        let credential: Arc<dyn TokenCredential> = Arc::new(Fixed(token));
        let url = self.server.queue_endpoint("https", ACCOUNT)?;
        Ok(QueueServiceClient::new(url.parse()?, Some(credential), Some(options()?))?)
    }

    pub async fn queue(&self) -> Result<QueueClient> {
        self.queue_with_metadata(&[]).await
    }

    pub async fn queue_with_metadata(&self, metadata: &[(&str, &str)]) -> Result<QueueClient> {
        let queue = self.service()?.queue_client(&fresh("queue"))?;
        create(&queue, metadata).await?;
        Ok(queue)
    }

    /// A queue with these messages.
    pub async fn filled(&self, texts: &[&str]) -> Result<QueueClient> {
        let queue = self.queue().await?;
        for text in texts {
            send(&queue, text, None).await?;
        }
        Ok(queue)
    }

    /// The queue with a signature of its own.
    pub fn shared(&self, queue: &QueueClient, signature: &Signature) -> Result<QueueClient> {
        self.signed(queue, signature, KEY)
    }

    pub fn signed(&self, queue: &QueueClient, signature: &Signature, key: &str) -> Result<QueueClient> {
        let Signature { permissions, start, expiry, policy, protocol } = signature;
        let name = name(queue);
        let resource = format!("/queue/{ACCOUNT}/{name}");
        let text = [*permissions, start, expiry, &resource, policy, "", protocol, VERSION].join("\n");
        let sig = hmac_sha256(&text, &Secret::new(key.to_owned()))?;
        let parameters = [
            ("sp", *permissions),
            ("st", start),
            ("se", expiry),
            ("si", policy),
            ("spr", protocol),
            ("sv", VERSION),
        ];
        self.with_query(&name, &query(parameters.into_iter().chain([("sig", sig.as_str())])))
    }

    /// The queue of this name with a signature that was made elsewhere.
    pub fn with_query(&self, queue: &str, query: &str) -> Result<QueueClient> {
        Ok(self.service_with(query)?.queue_client(queue)?)
    }
}

/// A signature of the account.
pub fn account_signature(permissions: &str, levels: &str) -> Result<String> {
    let text = format!("{ACCOUNT}\n{permissions}\nq\n{levels}\n\n{NEVER}\n\n\n{VERSION}\n\n");
    let sig = hmac_sha256(&text, &Secret::new(KEY))?;
    let parameters =
        [("sp", permissions), ("ss", "q"), ("srt", levels), ("se", NEVER), ("sv", VERSION), ("sig", &sig)];
    Ok(query(parameters))
}

/// What is not empty, as a query.
pub fn query<'a>(parameters: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut url = Url::parse("http://nowhere").expect("a URL");
    url.query_pairs_mut().extend_pairs(parameters.into_iter().filter(|(_, value)| !value.is_empty()));
    url.query().unwrap_or_default().to_owned()
}

/// The time in so many hours, as signatures write it.
pub fn hence(hours: i64) -> String {
    to_rfc3339(&in_hours(hours))
}

pub fn in_hours(hours: i64) -> OffsetDateTime {
    let now = OffsetDateTime::now_utc().unix_timestamp();
    OffsetDateTime::from_unix_timestamp(now).expect("a time of this age") + Duration::hours(hours)
}

/// Takes the certificate of any server, and asks once.
fn options() -> Result<QueueServiceClientOptions> {
    static CLIENT: OnceLock<reqwest::Client> = OnceLock::new();
    let client = match CLIENT.get() {
        Some(client) => client.clone(),
        None => {
            let made = reqwest::Client::builder().tls_danger_accept_invalid_certs(true).build()?;
            CLIENT.get_or_init(|| made).clone()
        }
    };
    let client_options = ClientOptions {
        transport: Some(Transport::new(Arc::new(client))),
        retry: RetryOptions::none(),
        ..ClientOptions::default()
    };
    Ok(QueueServiceClientOptions { client_options, ..QueueServiceClientOptions::default() })
}

/// The last word of the path.
pub fn name(queue: &QueueClient) -> String {
    queue.url().path_segments().and_then(Iterator::last).unwrap_or_default().to_owned()
}

// --- calls, without their options -------------------------------------------------------------------------------

pub async fn create(
    queue: &QueueClient,
    metadata: &[(&str, &str)],
) -> azure_core::Result<Response<(), NoFormat>> {
    let metadata = Some(map(metadata)).filter(|named| !named.is_empty());
    queue.create(Some(QueueClientCreateOptions { metadata, ..Default::default() })).await
}

pub fn map(pairs: &[(&str, &str)]) -> HashMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The metadata, and the approximate count of messages.
pub async fn properties(queue: &QueueClient) -> Result<(HashMap<String, String>, i64)> {
    let found = queue.get_properties(None).await?;
    Ok((found.metadata()?, found.approximate_messages_count()?.ok_or("no count of messages")?))
}

pub fn message(text: &str) -> azure_core::Result<azure_core::http::RequestContent<QueueMessage, XmlFormat>> {
    QueueMessage { message_text: Some(text.to_owned()) }.try_into()
}

pub async fn send(
    queue: &QueueClient,
    text: &str,
    options: Option<QueueClientSendMessageOptions<'_>>,
) -> azure_core::Result<SentMessage> {
    queue.send_message(message(text)?, options).await?.into_model()?.into_message()
}

pub async fn peek(queue: &QueueClient) -> azure_core::Result<Vec<PeekedMessage>> {
    let options = QueueClientPeekMessagesOptions { number_of_messages: Some(32), ..Default::default() };
    Ok(queue.peek_messages(Some(options)).await?.into_model()?.items.unwrap_or_default())
}

/// The texts of what is visible, in its order.
pub async fn peeked(queue: &QueueClient) -> azure_core::Result<Vec<String>> {
    Ok(peek(queue).await?.into_iter().filter_map(|message| message.message_text).collect())
}

pub async fn receive(
    queue: &QueueClient,
    count: i32,
    seconds: i32,
) -> azure_core::Result<Vec<ReceivedMessage>> {
    let options = QueueClientReceiveMessagesOptions {
        number_of_messages: Some(count),
        visibility_timeout: Some(seconds),
        ..Default::default()
    };
    Ok(queue.receive_messages(Some(options)).await?.into_model()?.items.unwrap_or_default())
}

/// One message, which must be there: its id, its receipt and the rest.
pub async fn receive_one(queue: &QueueClient, seconds: i32) -> Result<(String, String, ReceivedMessage)> {
    let found = receive(queue, 1, seconds).await?.pop().ok_or("no message is visible")?;
    let (id, receipt) = (found.message_id.clone(), found.pop_receipt.clone());
    Ok((id.ok_or("no id")?, receipt.ok_or("no receipt")?, found))
}

/// The status and the code a call is refused with; a call that succeeds fails the fact.
#[track_caller]
pub fn refused<T>(outcome: azure_core::Result<T>) -> (u16, String) {
    let Err(error) = outcome else { panic!("the call was accepted") };
    match error.kind() {
        azure_core::error::ErrorKind::HttpResponse { status, error_code, .. } => {
            ((*status).into(), error_code.clone().unwrap_or_default())
        }
        _ => panic!("no answer but an error: {error}"),
    }
}

/// As [`refused`], to compare with.
pub fn code(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}
