//! `--ports-file`: the chosen ports, for scripts. Written atomically, once the server answers.

use crate::config::PortNumbers;
use std::path::Path;

pub fn write(path: &Path, ports: PortNumbers) -> Result<(), String> {
    let text = serde_json::json!(ports).to_string();
    let new = path.with_extension("new");
    let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, path));
    written.map_err(|error| format!("the ports file {} cannot be written: {error}", path.display()))
}
