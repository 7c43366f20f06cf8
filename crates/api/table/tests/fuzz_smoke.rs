//! The fuzz targets on inputs from a fixed seed: noise, and samples with a few bytes changed.

use orrery_api_table::fuzz;
use orrery_testing_golden::Noise;

const ROUNDS: usize = 20_000;

const BATCHES: [&str; 3] = [
    "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\nContent-ID: 0\r\n\r\nPOST http://127.0.0.1:10002/devstoreaccount1/t HTTP/1.1\r\nPrefer: return-no-content\r\n\r\n{\"a\":1}\r\n--c--\r\n\r\n--b--\r\n",
    "--b\ncontent-type: multipart/mixed; boundary=c\n\n\n--c\ncontent-type: application/http\n\nDELETE /t(PartitionKey='b',RowKey='2') HTTP/1.1\nif-match: *\n\n\n--c--\n--b--",
    "--b\r\nContent-Type: application/http\r\n\r\nGET /a/t()?$filter=x%20eq%201 HTTP/1.1\r\n\r\n\r\n--b--\r\n",
];

const ENTITIES: [&str; 4] = [
    r#"{"PartitionKey":"p","RowKey":"r","a":5,"b":1.0,"c":true,"d":null,"e":"\u00e9"}"#,
    r#"{"l@odata.type":"Edm.Int64","l":"5","g":"c9da6455-213d-42c9-9a79-3e9149a57833","g@odata.type":"Edm.Guid"}"#,
    r#"{"b@odata.type":"Edm.Binary","b":"AAH/","t@odata.type":"Edm.DateTime","t":"2024-01-31T12:30:59.1Z"}"#,
    r#"{"n@odata.type":"Edm.Double","n":"NaN","m@odata.type":"Edm.Double","m":5,"odata.etag":{"x":[]}}"#,
];

const PATHS: [&str; 5] = [
    "/Tables('runs')",
    "/runs(PartitionKey='p%27%27',RowKey='a,b')",
    "runs(RowKey='',PartitionKey='(=)')",
    "/$batch",
    "1!6!cGFydA",
];

/// Noise, or a sample with a few bytes changed.
fn input(noise: &mut Noise, round: usize, samples: &[&str]) -> Vec<u8> {
    if round.is_multiple_of(4) {
        noise.bytes(60)
    } else {
        noise.damage(samples[round % samples.len()].as_bytes())
    }
}

#[test]
fn noise_and_damage_break_no_decoder() {
    let mut noise = Noise::new(0x0bad_5eed);
    for round in 0..ROUNDS {
        fuzz::multipart(&input(&mut noise, round, &BATCHES));
        fuzz::entity(&input(&mut noise, round, &ENTITIES));
        fuzz::path(&input(&mut noise, round, &PATHS));
    }
}

#[test]
fn the_samples_themselves_break_none() {
    BATCHES.iter().for_each(|batch| fuzz::multipart(batch.as_bytes()));
    ENTITIES.iter().for_each(|entity| fuzz::entity(entity.as_bytes()));
    PATHS.iter().for_each(|path| fuzz::path(path.as_bytes()));
}
