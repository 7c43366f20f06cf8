//! The trusted issuers of bearer tokens, and the accepted audiences.

use crate::config::Config;
use orrery_api_common::bearer::{COSMOS, Discovery, Issuer, KeySet, Trust};
use orrery_api_common::secrets;
use orrery_protocol::EMULATOR_KEY;

/// The trusted issuers: the configured one, and on loopback our own and the emulators'. The last is accepted exactly
/// where the published key is.
pub fn issuers(config: &Config) -> Result<Vec<Issuer>, String> {
    let mut issuers = Vec::new();
    if config.is_loopback() {
        issuers.push(Issuer::development(&secrets::development_key(&config.data)?));
        issuers.push(Issuer::emulator(EMULATOR_KEY));
    }
    if let Some(name) = &config.issuer {
        issuers.push(named(config, name)?);
    }
    Ok(issuers)
}

fn named(config: &Config, name: &str) -> Result<Issuer, String> {
    let Some(path) = &config.jwks else {
        let discovery =
            Discovery::new(name, Trust::System).map_err(|error| format!("--issuer {name}: {error}"))?;
        return Ok(Issuer::discovered(discovery));
    };
    let text =
        std::fs::read(path).map_err(|error| format!("--jwks {} cannot be read: {error}", path.display()))?;
    let keys = KeySet::parse(&text).map_err(|error| format!("--jwks {}: {error}", path.display()))?;
    Ok(Issuer::fixed(name, keys))
}

/// The accepted audiences: Cosmos DB, this server under its addresses, and the configured ones.
pub fn audiences(config: &Config, port: u16) -> Vec<String> {
    let mut hosts = vec![config.host.to_string()];
    if config.is_loopback() {
        hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
    }
    let forms = |host: &String| {
        let with = |scheme: &str| [format!("{scheme}://{host}"), format!("{scheme}://{host}:{port}")];
        [with("https"), with("http")].concat()
    };
    let mut audiences = vec![COSMOS.to_owned()];
    audiences.extend(hosts.iter().flat_map(forms));
    if let Some(advertised) = &config.advertised {
        let authority = advertised.authority(port);
        audiences.extend([format!("https://{authority}"), format!("http://{authority}")]);
        audiences.extend([format!("https://{}", advertised.host), format!("http://{}", advertised.host)]);
    }
    audiences.extend(config.audiences.iter().cloned());
    audiences
}
