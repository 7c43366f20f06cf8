//! A proxy in front of a store that injects faults.

use orrery_core::Env;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// The fate of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Answered,
    /// 429: not executed.
    Busy,
    /// 503: not executed.
    Down,
    /// 412, if it has a condition: not executed.
    Changed,
    /// Executed, and the response is lost.
    Lost,
    /// Executed, and the response never comes.
    Silent,
}

/// Forwards to the store at a given port, and applies the configured fates. A cheap handle.
#[derive(Clone)]
pub struct Proxy(Arc<Inner>);

struct Inner {
    address: SocketAddr,
    port: Mutex<u16>,
    env: Env,
    /// How many of a thousand requests have this fate.
    fates: Mutex<Vec<(Fate, u64)>>,
    seen: Mutex<Vec<Fate>>,
    /// Requests whose first line contains this text are held until released.
    held: Mutex<Option<&'static str>>,
    reached: Notify,
    let_go: Notify,
}

const BUSY: &str = "HTTP/1.1 429 Too Many Requests\r\nx-ms-retry-after-ms: 1\r\ncontent-length: 2\r\n\r\n{}";
const DOWN: &str = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\n{}";
const CHANGED: &str = "HTTP/1.1 412 Precondition Failed\r\ncontent-length: 2\r\n\r\n{}";

impl Proxy {
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
        let proxy = Self(Arc::new(inner));
        let carrying = proxy.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let proxy = carrying.clone();
                tokio::spawn(async move { proxy.carry(stream).await });
            }
        });
        proxy
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.0.address)
    }

    /// The store has moved to another port.
    pub fn lead_to(&self, port: u16) {
        *self.0.port.lock().unwrap() = port;
    }

    pub fn fates(&self, per_thousand: &[(Fate, u64)]) {
        *self.0.fates.lock().unwrap() = per_thousand.to_vec();
    }

    /// Holds the next request whose first line contains this text.
    pub fn hold(&self, text: &'static str) {
        *self.0.held.lock().unwrap() = Some(text);
    }

    /// Waits until one is held.
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

    /// The number of requests with this fate.
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
                    // Until the client gives up.
                    let _ = stream.read(&mut [0]).await;
                    return;
                }
            };
            if stream.write_all(&answer).await.is_err() {
                return;
            }
        }
    }

    /// The store's response, if it is up.
    async fn asked(&self, request: &[u8]) -> Option<Vec<u8>> {
        let port = *self.0.port.lock().unwrap();
        let mut store = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
        store.write_all(request).await.ok()?;
        message(&mut store).await
    }
}

/// Reads a head and the body of the length that it declares.
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

/// In lower case, without the empty line after it.
fn head(bytes: &[u8]) -> Option<String> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase())
}
