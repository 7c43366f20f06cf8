//! What a second core brings: creates with the server on one core and on two.
//!
//! The client is one thread, pinned to the same core in both cases. There are two places for it, and they
//! answer different questions, so both are measured:
//!
//! ```text
//!                server on one core     server on two
//!   apart        server 0, client 1     server 0,1, client 1     what the client takes of core 1 is lost to the second case
//!   together     server 0, client 0     server 0,1, client 0     one core does everything, or two do
//! ```
//!
//! "Apart" cannot reach 2: at most 2s / (s + c), with s and c the processor time of server and client for one
//! create. That bound is reported beside it, and the target is set against "together".

use crate::Settings;
use crate::cell::{Cell, Operation, Size};
use crate::error::Error;
use crate::machine;
use crate::report::{Report, Target};
use crate::sample::{Outcome, Sample};
use crate::subjects::{Orrery, Subject as _};
use orrery_testing_client::Options;

#[derive(Clone, Copy)]
struct Placement {
    name: &'static str,
    client: &'static str,
}

const PLACEMENTS: [Placement; 2] =
    [Placement { name: "apart", client: "1" }, Placement { name: "together", client: "0" }];

pub fn measure(settings: &Settings, options: &Options, report: &mut Report) -> Result<(), Error> {
    let cores = report.machine.cores;
    if cores < 2 {
        report.leave_out("cores: this machine has one");
        return Ok(());
    }
    let result = measure_pinned(settings, options, report);
    machine::pin_self(&format!("0-{}", cores - 1))?;
    result
}

fn measure_pinned(settings: &Settings, options: &Options, report: &mut Report) -> Result<(), Error> {
    let on = |cores: &str| Options { cores: Some(cores.to_owned()), ..options.clone() };
    let mut servers =
        [Orrery::start(&settings.folder, &on("0"))?, Orrery::start(&settings.folder, &on("0,1"))?];
    for placement in PLACEMENTS {
        machine::pin_self(placement.client)?;
        let (rates, bound) = compare(&mut servers, settings)?;
        let ratio = rates[0].rate().zip(rates[1].rate()).map(|(one, two)| two / one);
        let rate =
            |outcome: &Outcome| outcome.rate().map_or("FAILED".to_owned(), |rate| format!("{rate:.0}"));
        report.say(
            "cores",
            &format!(
                "{}: client pinned to core {}, server to core 0: {} creates/s; server to cores 0,1: {}; ratio {}{}",
                placement.name,
                placement.client,
                rate(&rates[0]),
                rate(&rates[1]),
                ratio.map_or("none".to_owned(), |ratio| format!("{ratio:.2}")),
                if placement.name == "apart" { format!(" (at most {bound:.2})") } else { String::new() },
            ),
        );
        if placement.name == "together" {
            report.target(Target::at_least("second core", 1.5, "x").measured(ratio));
        }
    }
    Ok(())
}

/// The rates on one core and on two, interleaved, and the bound of the ratio from the processor time of all runs.
fn compare(servers: &mut [Orrery; 2], settings: &Settings) -> Result<([Outcome; 2], f64), Error> {
    let cell = Cell::new(Operation::Create, Size::Kb1, 64);
    let mut runs: [Vec<Sample>; 2] = Default::default();
    let (mut server_seconds, mut client_seconds) = (0.0, 0.0);
    for round in 0..settings.rounds {
        for (server, samples) in servers.iter_mut().zip(&mut runs) {
            if round == 0 {
                server.run(cell, settings.warm_up)?;
            }
            let before = (cpu(server.server.process_id())?, cpu(std::process::id())?);
            samples.push(server.run(cell, settings.span)?);
            server_seconds += cpu(server.server.process_id())? - before.0;
            client_seconds += cpu(std::process::id())? - before.1;
        }
    }
    let bound = 2.0 * server_seconds / (server_seconds + client_seconds).max(f64::MIN_POSITIVE);
    Ok((runs.map(Outcome::of), bound))
}

fn cpu(process: u32) -> Result<f64, Error> {
    machine::cpu_seconds(process)
}
