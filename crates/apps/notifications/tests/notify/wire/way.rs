//! The way to a store, with whatever can happen on one.

use orrery_core::Env;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Answered,
    /// 429: it is not carried out.
    Busy,
    /// 503: it is not carried out.
    Down,
    /// 412, if it names a tag: it is not carried out.
    Changed,
    /// It is carried out, and the answer is lost.
    Lost,
    /// It is carried out, and the answer never comes.
    Silent,
}

/// Leads to the store whose port it is told, and does to requests what it is told. A cheap handle.
#[derive(Clone)]
pub struct Way(Arc<Inner>);

struct Inner {
    address: SocketAddr,
    port: Mutex<u16>,
    env: Env,
    /// Of a thousand requests so many have this fate.
    fates: Mutex<Vec<(Fate, u64)>>,
    seen: Mutex<Vec<Fate>>,
    /// Requests whose first line has this text wait until they are let go.
    held: Mutex<Option<&'static str>>,
    reached: Notify,
    let_go: Notify,
}

const BUSY: &str = "HTTP/1.1 429 Too Many Requests\r\nx-ms-retry-after-ms: 1\r\ncontent-length: 2\r\n\r\n{}";
const DOWN: &str = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\n{}";
const CHANGED: &str = "HTTP/1.1 412 Precondition Failed\r\ncontent-length: 2\r\n\r\n{}";

impl Way {
    pub async fn to(port: u16, seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let inner = Inner {
            address: listener.local_addr().unwrap(),
            port: Mutex::new(port),
            env: Env::seeded(orrery_core::Timestamp::default(), seed),
            fates: Mutex::new(Vec::new()),
            seen: Mutex::new(Vec::new()),
            held: Mutex::new(None),
            reached: Notify::new(),
            let_go: Notify::new(),
        };
        let way = Self(Arc::new(inner));
        let carrying = way.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let way = carrying.clone();
                tokio::spawn(async move { way.carry(stream).await });
            }
        });
        way
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.0.address)
    }

    /// The store is at another port now.
    pub fn lead_to(&self, port: u16) {
        *self.0.port.lock().unwrap() = port;
    }

    pub fn fates(&self, per_thousand: &[(Fate, u64)]) {
        *self.0.fates.lock().unwrap() = per_thousand.to_vec();
    }

    /// The next request whose first line has this text waits.
    pub fn hold(&self, text: &'static str) {
        *self.0.held.lock().unwrap() = Some(text);
    }

    /// Until there is one that waits.
    pub async fn reached(&self) {
        self.0.reached.notified().await;
    }

    pub fn let_go(&self) {
        self.0.let_go.notify_one();
    }

    async fn wait_if_held(&self, request: &[u8]) {
        let head = head(request).unwrap_or_default();
        let line = head.lines().next().unwrap_or_default();
        let is_held = self.0.held.lock().unwrap().take_if(|text| line.contains(*text)).is_some();
        if is_held {
            self.0.reached.notify_one();
            self.0.let_go.notified().await;
        }
    }

    /// How many requests had this fate.
    pub fn count(&self, fate: Fate) -> usize {
        self.0.seen.lock().unwrap().iter().filter(|seen| **seen == fate).count()
    }

    fn fate(&self, request: &[u8]) -> Fate {
        let mut number = self.0.env.random_u64() % 1_000;
        let mut fate = Fate::Answered;
        for (one, share) in self.0.fates.lock().unwrap().iter() {
            if number < *share {
                fate = *one;
                break;
            }
            number -= share;
        }
        if fate == Fate::Changed && !head(request).is_some_and(|head| head.contains("\r\nif-match:")) {
            fate = Fate::Answered;
        }
        self.0.seen.lock().unwrap().push(fate);
        fate
    }

    async fn carry(&self, mut stream: TcpStream) {
        while let Some(request) = message(&mut stream).await {
            self.wait_if_held(&request).await;
            let answer = match self.fate(&request) {
                Fate::Busy => BUSY.as_bytes().to_vec(),
                Fate::Down => DOWN.as_bytes().to_vec(),
                Fate::Changed => CHANGED.as_bytes().to_vec(),
                Fate::Answered => match self.asked(&request).await {
                    Some(answer) => answer,
                    None => return,
                },
                Fate::Lost => {
                    self.asked(&request).await;
                    return;
                }
                Fate::Silent => {
                    self.asked(&request).await;
                    // Until whoever waits has had enough.
                    let _ = stream.read(&mut [0]).await;
                    return;
                }
            };
            if stream.write_all(&answer).await.is_err() {
                return;
            }
        }
    }

    /// What the store answers, if it is there.
    async fn asked(&self, request: &[u8]) -> Option<Vec<u8>> {
        let port = *self.0.port.lock().unwrap();
        let mut store = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
        store.write_all(request).await.ok()?;
        message(&mut store).await
    }
}

/// A head and as much of a body as it says.
async fn message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let mut some = [0; 16 * 1024];
        match stream.read(&mut some).await {
            Ok(length) if length > 0 => bytes.extend_from_slice(&some[..length]),
            _ => return None,
        }
        let Some(head) = head(&bytes) else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
        if bytes.len() >= head.len() + 4 + length {
            return Some(bytes);
        }
    }
}

/// In small letters, without the empty line after it.
fn head(bytes: &[u8]) -> Option<String> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase())
}
