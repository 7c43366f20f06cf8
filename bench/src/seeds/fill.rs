//! Loading a set over HTTP: as many creates under way as there are connections, each signed once for many.

use super::progress::Progress;
use super::set::{Item, Set};
use crate::error::Error;
use orrery_core::Env;
use orrery_testing_client::{Connection, ContainerPath, Signer};
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Creates of one connection between two signatures, which hold for a quarter of an hour, and between two reports.
const CREATES_A_SIGNATURE: u64 = 100;

/// Creates all items of a set.
pub async fn fill(
    address: SocketAddr,
    env: &Env,
    path: &ContainerPath,
    set: &Set,
    connections: usize,
) -> Result<(), Error> {
    let next = Arc::new(AtomicU64::new(0));
    let (done, mut finished) = tokio::sync::mpsc::unbounded_channel();
    let fillers: Vec<_> = (0..connections)
        .map(|_| {
            let filler = Filler {
                address,
                env: env.clone(),
                path: path.clone(),
                set: set.clone(),
                next: next.clone(),
                done: done.clone(),
            };
            tokio::spawn(filler.run())
        })
        .collect();
    drop(done);
    let mut progress = Progress::new(format!("orrery, {}", set.name), set.items);
    while let Some(count) = finished.recv().await {
        progress.add(count);
    }
    for filler in fillers {
        filler.await.map_err(|e| Error::Unexpected(e.to_string()))??;
    }
    Ok(())
}

struct Filler {
    address: SocketAddr,
    env: Env,
    path: ContainerPath,
    set: Set,
    next: Arc<AtomicU64>,
    done: tokio::sync::mpsc::UnboundedSender<u64>,
}

impl Filler {
    async fn run(self) -> Result<(), Error> {
        let mut connection = Connection::connect(self.address).await?;
        let mut bytes = Vec::new();
        loop {
            let head = CreateHead::new(&self.path, &Signer::emulator(self.env.now()));
            for created in 0..CREATES_A_SIGNATURE {
                let number = self.next.fetch_add(1, Ordering::Relaxed);
                if number >= self.set.items {
                    self.tell(created);
                    return Ok(());
                }
                bytes.clear();
                head.write(&self.set.item(number), &mut bytes);
                let reply = connection.exchange(&bytes).await?;
                if reply.status != 201 {
                    return Err(Error::Unexpected(refused(reply.status, reply.body)));
                }
            }
            self.tell(CREATES_A_SIGNATURE);
        }
    }

    /// Whoever does not listen any more does not want to know.
    fn tell(&self, created: u64) {
        let _ = self.done.send(created);
    }
}

pub fn refused(status: u16, body: &[u8]) -> String {
    format!("status {status}: {}", String::from_utf8_lossy(body))
}

/// The head of a create, signed; only the partition key and the length of the body differ from item to item.
#[derive(Clone, Debug)]
pub struct CreateHead {
    before_key: Vec<u8>,
    before_length: Vec<u8>,
}

impl CreateHead {
    pub fn new(path: &ContainerPath, signer: &Signer) -> Self {
        const KEY: &str = "[\"";
        const LENGTH: &str = "Content-Length: ";
        let head = path.create("", Vec::new()).encode_head(signer, 0);
        let head = String::from_utf8_lossy(&head);
        let after = |mark: &str| head.rfind(mark).map_or(head.len(), |at| at + mark.len());
        let (key, length) = (after(KEY), after(LENGTH));
        Self {
            before_key: head[..key].as_bytes().to_vec(),
            before_length: head[key.min(length)..length].as_bytes().to_vec(),
        }
    }

    /// Appends the request that creates the item.
    pub fn write(&self, item: &Item, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.before_key);
        to.extend_from_slice(item.partition.as_bytes());
        to.extend_from_slice(&self.before_length);
        // Writing to memory does not fail.
        let _ = write!(to, "{}\r\n\r\n", item.text.len());
        to.extend_from_slice(item.text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::Timestamp;

    #[test]
    fn a_create_is_what_the_client_would_send() {
        let path = ContainerPath::new("bench", "items");
        let signer = Signer::emulator(Timestamp::default());
        let item = Item {
            id: "a".to_owned(),
            partition: "user-17".to_owned(),
            text: "{\"id\":\"a\",\"pk\":\"user-17\"}".to_owned(),
        };
        let mut bytes = Vec::new();
        CreateHead::new(&path, &signer).write(&item, &mut bytes);
        let whole = path.create(&item.partition, item.text.clone()).encode(&signer);
        assert_eq!(String::from_utf8(bytes).unwrap(), String::from_utf8(whole).unwrap());
    }
}
