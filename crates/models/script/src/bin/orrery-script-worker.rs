//! A worker process without the server, for the tests of this crate.

fn main() -> std::io::Result<()> {
    orrery_script::serve_worker()
}
