//! A disk that is really full: a small file system of the test's own. Without the right to mount one the tests
//! say so and show nothing.

use crate::server::{Server, make_container, message};
use orrery_core::{Env, Timestamp};
use orrery_testing_client::{Client, ContainerPath, Method, OwnedReply, Request};
use serde_json::json;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const MEBIBYTE: usize = 1 << 20;

/// A file system in memory, unmounted at the end.
struct Disk {
    place: TempDir,
}

impl Disk {
    fn mount(mebibytes: usize) -> Option<Self> {
        let place = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={mebibytes}m"), "none"]).arg(place.path());
        match mount.stderr(Stdio::null()).status() {
            Ok(status) if status.success() => Some(Self { place }),
            _ => {
                println!("skipped: this process may not mount a file system");
                None
            }
        }
    }

    fn data(&self) -> PathBuf {
        self.place.path().join("data")
    }

    /// A file of somebody else's that takes up room.
    fn filler(&self, mebibytes: usize) -> PathBuf {
        let path = self.place.path().join("filler");
        let mut file = File::create(&path).unwrap();
        for _ in 0..mebibytes {
            file.write_all(&[7; MEBIBYTE]).unwrap();
        }
        path
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.place.path()).status();
    }
}

/// A mebibyte of text that does not get smaller when it is compressed: hexadecimal digits of a random sequence.
fn noise(seed: u64) -> String {
    let env = Env::seeded(Timestamp::default(), seed);
    let mut text = String::with_capacity(MEBIBYTE);
    while text.len() < MEBIBYTE {
        text.push_str(&format!("{:016x}{:016x}", env.random_u64(), env.random_u64()));
    }
    text
}

async fn create(client: &mut Client, path: &ContainerPath, number: usize) -> OwnedReply {
    let item = json!({"id": number.to_string(), "pk": "p", "t": noise(number as u64)});
    client.create_item(path, "p", &item).await.unwrap()
}

/// Writes until the server refuses: how many went in, and the refusal.
async fn fill(client: &mut Client, path: &ContainerPath) -> (usize, OwnedReply) {
    for number in 0..1000 {
        let reply = create(client, path, number).await;
        if reply.status != 201 {
            return (number, reply);
        }
    }
    panic!("the disk does not fill up");
}

async fn check_all_there(client: &mut Client, path: &ContainerPath, count: usize) {
    for number in 0..count {
        let reply = client.read_item(path, "p", &number.to_string()).await.unwrap();
        assert!(reply.status == 200 && reply.body.len() > MEBIBYTE, "{number}: {}", reply.status);
    }
}

fn start(data: &Path, flags: &[&str]) -> (Server, Client) {
    let server = Server::start(data, flags);
    let client = server.client();
    (server, client)
}

#[tokio::test]
async fn a_disk_that_fills_up_refuses_writes_and_takes_them_again_once_there_is_room() {
    let Some(disk) = Disk::mount(200) else { return };
    let (server, mut client) = start(&disk.data(), &["--disk-reserve-mb", "64"]);
    let path = make_container(&mut client, &json!({})).await;
    let filler = disk.filler(100);
    let (count, refused) = fill(&mut client, &path).await;
    assert_eq!(refused.status, 503);
    assert!(message(&refused).contains("make room"), "{}", message(&refused));
    assert!(count >= 8, "only {count} MiB went in");
    check_all_there(&mut client, &path, count).await;
    assert_eq!(create(&mut client, &path, count).await.status, 503);
    server.readiness(503).await;
    std::fs::remove_file(filler).unwrap();
    // It finds out by itself that there is room again.
    server.readiness(200).await;
    assert_eq!(create(&mut client, &path, count).await.status, 201);
    check_all_there(&mut client, &path, count + 1).await;
    server.stop();
    let (_server, mut client) = start(&disk.data(), &["--disk-reserve-mb", "64"]);
    check_all_there(&mut client, &path, count + 1).await;
}

#[tokio::test]
async fn a_full_disk_has_room_again_when_a_container_is_deleted() {
    let Some(disk) = Disk::mount(300) else { return };
    let (server, mut client) = start(&disk.data(), &["--disk-reserve-mb", "64"]);
    let path = make_container(&mut client, &json!({})).await;
    let (_, refused) = fill(&mut client, &path).await;
    assert_eq!(refused.status, 503);
    assert!(message(&refused).contains("deletes are still accepted"), "{}", message(&refused));
    assert_eq!(client.delete_item(&path, "p", "0", None).await.unwrap().status, 204);
    let whole = Request::new(Method::Delete, format!("dbs/{}/colls/{}", path.database, path.container));
    assert_eq!(client.call(&whole).await.unwrap().status, 204);
    // What was deleted is given back in the background.
    server.readiness(200).await;
    assert_eq!(client.create_container(&path, &json!({})).await.unwrap().status, 201);
    assert_eq!(create(&mut client, &path, 0).await.status, 201);
    server.stop();
}

/// Without a reserve the engine meets the end of the disk itself.
#[tokio::test]
async fn a_disk_that_is_full_to_the_last_byte_loses_nothing_that_was_acknowledged() {
    let Some(disk) = Disk::mount(100) else { return };
    let (server, mut client) = start(&disk.data(), &["--disk-reserve-mb", "0"]);
    let path = make_container(&mut client, &json!({})).await;
    let filler = disk.filler(60);
    let (count, refused) = fill(&mut client, &path).await;
    assert_eq!(refused.status, 503, "{}", message(&refused));
    assert!(count >= 8, "only {count} MiB went in");
    check_all_there(&mut client, &path, count).await;
    assert_eq!(create(&mut client, &path, count).await.status, 503);
    server.stop();
    std::fs::remove_file(filler).unwrap();
    let (server, mut client) = start(&disk.data(), &["--disk-reserve-mb", "0"]);
    check_all_there(&mut client, &path, count).await;
    assert!(matches!(create(&mut client, &path, count).await.status, 201 | 409));
    server.stop();
}
