//! `orrery notify fake-push`: stand-ins for FCM and APNs on this machine, and the files to push to them.

use clap::Args;
use orrery_api_common::Stop;
use orrery_api_common::secrets::replace_private_file;
use orrery_api_push::{Options, Ports, StandIns};
use orrery_cli::client::block_on;
use orrery_cli::terminal;
use orrery_core::Env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

#[derive(Args)]
pub struct FakePushFlags {
    /// The port of FCM and its token endpoint; 0 for any free one
    #[arg(long, default_value_t = 9443)]
    fcm_port: u16,
    /// The port of APNs; 0 for any free one
    #[arg(long, default_value_t = 9444)]
    apns_port: u16,
    /// The port on which failures are scripted and pushes are shown; 0 for any free one
    #[arg(long, default_value_t = 9445)]
    control_port: u16,
    /// Where keys, certificate and the configuration for the server are written
    #[arg(long, default_value = "fake-push")]
    folder: PathBuf,
    /// Write the ports to this file once they answer
    #[arg(long)]
    ports_file: Option<PathBuf>,
    /// Take tokens of any time, for a server whose clock is moved by hand
    #[arg(long)]
    any_clock: bool,
}

/// Serves until it is stopped.
pub fn fake_push(flags: &FakePushFlags, is_json: bool) -> Result<ExitCode, String> {
    block_on(run(flags, is_json))??;
    Ok(ExitCode::SUCCESS)
}

async fn run(flags: &FakePushFlags, is_json: bool) -> Result<(), String> {
    let caught = |kind| signal(kind).map_err(|error| format!("signals cannot be caught: {error}"));
    let (mut terminate, mut interrupt) = (caught(SignalKind::terminate())?, caught(SignalKind::interrupt())?);
    let stand_ins = StandIns::bind(options(flags)?)?;
    write_files(&flags.folder, &stand_ins)?;
    let ports = stand_ins.ports();
    let stop = Stop::new();
    let serving = tokio::spawn(stand_ins.run(stop.clone()));
    if let Some(path) = &flags.ports_file {
        let text = serde_json::to_string(&ports).map_err(|error| error.to_string())?;
        write_whole(path, &text)?;
    }
    match is_json {
        true => terminal::print_json(&ports)?,
        false => terminal::print(&what_next(&flags.folder, ports))?,
    }
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    stop.stop();
    serving.await.map_err(|error| format!("the stand-ins ended badly: {error}"))
}

fn options(flags: &FakePushFlags) -> Result<Options, String> {
    let unusable = |path: &Path, error: std::io::Error| format!("{} cannot be used: {error}", path.display());
    let certificate_folder = flags.folder.join("tls");
    fs::create_dir_all(&certificate_folder).map_err(|error| unusable(&certificate_folder, error))?;
    let key = flags.folder.join("apns.p8");
    let apns_key = match fs::read_to_string(&key) {
        Ok(pem) => Some(pem),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(unusable(&key, error)),
    };
    let clock = if flags.any_clock { None } else { Some(Env::system().map_err(|error| error.to_string())?) };
    Ok(Options {
        fcm_port: flags.fcm_port,
        apns_port: flags.apns_port,
        control_port: flags.control_port,
        certificate_folder,
        apns_key,
        clock,
    })
}

fn write_files(folder: &Path, stand_ins: &StandIns) -> Result<(), String> {
    for file in stand_ins.files() {
        let path = folder.join(file.name);
        if file.is_secret {
            let written = replace_private_file(&path, file.text.as_bytes());
            written.map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
        } else {
            write_whole(&path, &file.text)?;
        }
    }
    Ok(())
}

fn write_whole(path: &Path, text: &str) -> Result<(), String> {
    let new = path.with_extension("new");
    let written = fs::write(&new, text).and_then(|()| fs::rename(&new, path));
    written.map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

fn what_next(folder: &Path, ports: Ports) -> String {
    let Ports { fcm, apns, control } = ports;
    let config = folder.join("providers.json");
    let config = config.display();
    format!(
        "FCM listens on https://127.0.0.1:{fcm}, APNs on https://127.0.0.1:{apns}.\n\
         Push to them:     orrery serve --push-config {config}\n\
         See what came:    curl http://127.0.0.1:{control}/control/received\n\
         Let a push fail:  curl http://127.0.0.1:{control}/control -d \
         '{{\"match\": {{\"platform\": \"fcm\"}}, \"answer\": {{\"status\": 503, \"reason\": \"UNAVAILABLE\", \"retryAfter\": 120}}, \"times\": 1}}'\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_can_be_pasted() {
        let text = what_next(Path::new("dir"), Ports { fcm: 1, apns: 2, control: 3 });
        assert!(text.contains("orrery serve --push-config dir/providers.json"), "{text}");
        let rule = text.split('\'').nth(1).expect("a rule");
        assert!(serde_json::from_str::<orrery_api_push::Rule>(rule).is_ok(), "{rule}");
    }
}
