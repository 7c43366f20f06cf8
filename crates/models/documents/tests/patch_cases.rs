//! Runs `cases/patch/*.case`.
//!
//! An `item <json>` holds until the next one. Each `patch <json>` is followed by what comes of it: `gives <json>`, the
//! text byte for byte, or `refused <text>`, a part of the sentence. `gives same` is the item as it was.

use orrery_documents::patch::{PatchError, PatchRequest, apply};
use orrery_testing_golden::{case_files, lines};
use orrery_value::scan_value;
use std::fs;
use std::path::Path;

#[test]
fn every_case_holds() {
    let (mut cases, mut failures) = (0, Vec::new());
    for file in case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/patch"), "case") {
        let text = fs::read_to_string(&file).expect("a case file is readable");
        let (mut item, mut patch) = (String::new(), String::new());
        for line in lines(&text) {
            let expected = line.text.as_str();
            let is_right = match line.keyword.as_str() {
                "item" => {
                    item = line.text.clone();
                    continue;
                }
                "patch" => {
                    patch = line.text.clone();
                    continue;
                }
                "gives" => {
                    let wanted = if expected == "same" { &item } else { expected };
                    patched(&item, &patch).is_ok_and(|given| given == wanted)
                }
                "refused" => patched(&item, &patch).is_err_and(|error| error.to_string().contains(expected)),
                other => panic!("'{other}' is not a keyword"),
            };
            cases += 1;
            if !is_right {
                let at = format!("{}:{}", file.display(), line.from + 1);
                failures.push(format!("{at}: {patch}\n   gave {:?}", patched(&item, &patch)));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {cases} failed:\n{}", failures.len(), failures.join("\n"));
    assert!(cases >= 100, "only {cases} cases were found; are the case files there?");
}

fn patched(item: &str, patch: &str) -> Result<String, PatchError> {
    scan_value(patch.as_bytes()).unwrap_or_else(|error| panic!("{patch}: {error}"));
    let request = PatchRequest::parse(patch)?;
    let text = apply(&request.operations, item)?;
    scan_value(text.as_bytes()).unwrap_or_else(|error| panic!("{patch} gave {text}: {error}"));
    Ok(text)
}
