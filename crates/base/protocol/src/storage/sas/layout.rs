//! What is signed with a shared access signature, by its kind and version (wire guide §3.2 to §3.5).
//!
//! Versions are dates and compare as texts. The lines are joined by line feeds; only an account's signature ends in one.

use super::Fields;

/// From these versions on a layout has more lines.
const WITH_ENCRYPTION_SCOPE: &str = "2020-12-06";
const WITH_RESOURCE: &str = "2018-11-09";
const WITH_AUTHORIZED_IDS: &str = "2020-02-10";
const WITH_DELEGATED_USER: &str = "2025-07-05";
const WITH_SIGNED_REQUEST: &str = "2026-04-06";

/// Of the whole account.
pub fn account(account: &str, fields: &Fields) -> String {
    let mut lines = Lines(vec![account.to_owned()]);
    lines.push([
        &fields.sp,
        &fields.ss,
        &fields.srt,
        &fields.st,
        &fields.se,
        &fields.sip,
        &fields.spr,
        &fields.sv,
    ]);
    if fields.is_since(WITH_ENCRYPTION_SCOPE) {
        lines.push([&fields.ses]);
    }
    lines.text() + "\n"
}

/// Of one queue.
pub fn queue(account: &str, queue: &str, fields: &Fields) -> String {
    let mut lines = Lines::of_resource(&format!("/queue/{account}/{queue}"), fields);
    lines.push([&fields.si, &fields.sip, &fields.spr, &fields.sv]);
    lines.text()
}

/// Of the table that it names itself, or of a part of it.
pub fn table(account: &str, fields: &Fields) -> String {
    let table = fields.tn.as_deref().unwrap_or_default().to_lowercase();
    let mut lines = Lines::of_resource(&format!("/table/{account}/{table}"), fields);
    lines.push([&fields.si, &fields.sip, &fields.spr, &fields.sv]);
    lines.push([&fields.spk, &fields.srk, &fields.epk, &fields.erk]);
    lines.text()
}

/// Of a blob or its container: `path` is `container` or `container/blob`, decoded. `moment` is the snapshot or version that
/// is asked for, which only the request says.
pub fn blob(account: &str, path: &str, moment: &str, fields: &Fields) -> String {
    let mut lines = Lines::of_resource(&format!("/blob/{account}/{path}"), fields);
    lines.push([&fields.si, &fields.sip, &fields.spr, &fields.sv]);
    lines.push_blob(moment, fields);
    lines.push_answer(fields);
    lines.text()
}

/// Of a blob or its container, with a key that a user was given.
pub fn delegation_blob(
    account: &str,
    path: &str,
    moment: &str,
    request: &SignedRequest,
    fields: &Fields,
) -> String {
    let mut lines = Lines::of_resource(&format!("/blob/{account}/{path}"), fields);
    lines.push_delegation(fields);
    if fields.is_since(WITH_AUTHORIZED_IDS) {
        lines.push([&fields.saoid, &fields.suoid, &fields.scid]);
    }
    if fields.is_since(WITH_DELEGATED_USER) {
        lines.push([&fields.skdutid, &fields.sduoid]);
    }
    lines.push([&fields.sip, &fields.spr, &fields.sv]);
    lines.push_blob(moment, fields);
    if fields.is_since(WITH_SIGNED_REQUEST) {
        lines.0.extend([request.headers.clone(), request.query.clone()]);
    }
    lines.push_answer(fields);
    lines.text()
}

/// Of one queue, with a key that a user was given.
pub fn delegation_queue(account: &str, queue: &str, fields: &Fields) -> String {
    let mut lines = Lines::of_resource(&format!("/queue/{account}/{queue}"), fields);
    lines.push_delegation(fields);
    lines.push([&fields.skdutid, &fields.sduoid, &fields.sip, &fields.spr, &fields.sv]);
    lines.text()
}

/// The headers and parameters of a request that are signed with a signature; it names them in `srh` and `srq`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignedRequest {
    headers: String,
    query: String,
}

impl SignedRequest {
    /// `header` and `parameter` find values by name; one that is missing is empty.
    pub fn of<'a, 'b>(
        fields: &Fields,
        header: impl Fn(&str) -> Option<std::borrow::Cow<'a, str>>,
        parameter: impl Fn(&str) -> Option<std::borrow::Cow<'b, str>>,
    ) -> Self {
        let names = |list: &'_ Option<String>| {
            let names = list.as_deref().unwrap_or_default().split(',').filter(|name| !name.is_empty());
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        let line = |name: &str, value: Option<std::borrow::Cow<'_, str>>| {
            format!("{name}:{}", value.unwrap_or_default())
        };
        let headers = names(&fields.srh).iter().map(|name| line(name, header(name)) + "\n").collect();
        let query =
            names(&fields.srq).iter().map(|name| "\n".to_owned() + &line(name, parameter(name))).collect();
        Self { headers, query }
    }
}

impl Fields {
    fn is_since(&self, version: &str) -> bool {
        self.sv.as_deref().unwrap_or_default() >= version
    }
}

struct Lines(Vec<String>);

impl Lines {
    fn of_resource(resource: &str, fields: &Fields) -> Self {
        let mut lines = Self(Vec::new());
        lines.push([&fields.sp, &fields.st, &fields.se]);
        lines.0.push(resource.to_owned());
        lines
    }

    /// What is missing is an empty line.
    fn push<const N: usize>(&mut self, fields: [&Option<String>; N]) {
        self.0.extend(fields.map(|field| field.clone().unwrap_or_default()));
    }

    fn push_delegation(&mut self, fields: &Fields) {
        self.push([&fields.skoid, &fields.sktid, &fields.skt, &fields.ske, &fields.sks, &fields.skv]);
    }

    fn push_blob(&mut self, moment: &str, fields: &Fields) {
        if fields.is_since(WITH_RESOURCE) {
            self.push([&fields.sr]);
            self.0.push(moment.to_owned());
        }
        if fields.is_since(WITH_ENCRYPTION_SCOPE) {
            self.push([&fields.ses]);
        }
    }

    fn push_answer(&mut self, fields: &Fields) {
        self.push([&fields.rscc, &fields.rscd, &fields.rsce, &fields.rscl, &fields.rsct]);
    }

    fn text(&self) -> String {
        self.0.join("\n")
    }
}
