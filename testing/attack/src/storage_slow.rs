//! Slow clients of the storage ports: heads and bodies that arrive a byte at a time. Others are served all the while, and the slow
//! ones are sent away after their time.

use crate::storage_input::batch;
use orrery_attack::{Arena, QUEUE};
use orrery_testing_client::{Method, ServerProcess, StorageRequest, message_body};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Slow connections to each port.
const SLOW: usize = 150;
/// Between two bytes of each.
const BYTE_EVERY: Duration = Duration::from_millis(500);
/// What a head and a body may take by the server's own limits, with room for a slow machine.
const HEAD_WITHIN: Duration = Duration::from_secs(15 + 10);
const BODY_WITHIN: Duration = Duration::from_secs(60 + 15);

pub fn heads(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&[])?;
    arena.make_queue_and_table(&server)?;
    let start = b"GET /devstoreaccount1?comp=list HTTP/1.1\r\nHost: 127.0.0.1\r\nx-ms-meta-a: ";
    let slow = open(&[(server.queue(), start.to_vec()), (server.table(), start.to_vec())])?;
    trickle(arena, &server, slow, HEAD_WITHIN)?;
    arena.check_nothing_is_stored(&server)?;
    arena.check_well(&mut server)
}

/// The long form waits until the slow bodies are sent away; the short one until others were served beside them for a while.
pub fn bodies(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&[])?;
    arena.make_queue_and_table(&server)?;
    let put = StorageRequest::queue(Method::Post, format!("{QUEUE}/messages"));
    let put = put.body("application/xml", message_body(&"x".repeat(1_000)));
    let half = |request: &StorageRequest| {
        let whole = request.encode(arena.now());
        whole[..whole.len() - 500].to_vec()
    };
    let slow = open(&[(server.queue(), half(&put)), (server.table(), half(&batch(10, "hello")))])?;
    if arena.is_long {
        trickle(arena, &server, slow, BODY_WITHIN)?;
    } else {
        serve_beside(arena, &server, slow)?;
    }
    arena.check_nothing_is_stored(&server)?;
    arena.check_well(&mut server)
}

fn open(starts: &[(SocketAddr, Vec<u8>)]) -> Result<Vec<TcpStream>, String> {
    let mut slow = Vec::new();
    for (port, start) in starts {
        for _ in 0..SLOW {
            let mut stream = TcpStream::connect(port).map_err(|error| error.to_string())?;
            stream.write_all(start).map_err(|error| error.to_string())?;
            stream.set_nonblocking(true).map_err(|error| error.to_string())?;
            slow.push(stream);
        }
    }
    Ok(slow)
}

/// Sends a byte on each connection now and then, until the server has closed all of them.
fn trickle(
    arena: &Arena,
    server: &ServerProcess,
    mut slow: Vec<TcpStream>,
    within: Duration,
) -> Result<(), String> {
    let until = Instant::now() + within;
    while !slow.is_empty() {
        slow.retain_mut(is_open);
        check_served(arena, server)?;
        if Instant::now() > until {
            return Err(format!("{} slow connections are open after {within:?}", slow.len()));
        }
        std::thread::sleep(BYTE_EVERY);
    }
    Ok(())
}

fn serve_beside(arena: &Arena, server: &ServerProcess, mut slow: Vec<TcpStream>) -> Result<(), String> {
    for _ in 0..6 {
        slow.retain_mut(is_open);
        check_served(arena, server)?;
        std::thread::sleep(BYTE_EVERY);
    }
    if slow.is_empty() { Err("the server did not wait for the bodies at all".to_owned()) } else { Ok(()) }
}

/// Sends a byte; whether the server still listens.
fn is_open(stream: &mut TcpStream) -> bool {
    let mut answer = [0; 512];
    let is_closed = match stream.read(&mut answer) {
        Ok(0) => true,
        // An answer is the end of it as well.
        Ok(_) => true,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    };
    !is_closed && stream.write_all(b"x").is_ok()
}

fn check_served(arena: &Arena, server: &ServerProcess) -> Result<(), String> {
    let properties =
        |request: StorageRequest| request.parameter("restype", "service").parameter("comp", "properties");
    let (queue, table) = (StorageRequest::queue(Method::Get, ""), StorageRequest::table(Method::Get, ""));
    arena.expect_storage(200, "", server.queue(), &properties(queue))?;
    arena.expect_storage(200, "", server.table(), &properties(table)).map(drop)
}
