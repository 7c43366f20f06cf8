//! The fuzz targets on inputs from a fixed seed: noise, and samples with a few bytes changed.

use orrery_testing_golden::Noise;
use orrery_value::fuzz;

const ROUNDS: usize = 20_000;

const TEXTS: [&str; 5] = [
    r#"{"id":"i0","n":-10.5e2,"tags":["a","b",{"c":null}],"ok":true}"#,
    r#"{"a":"\u0061\ud83d\ude80\ud800","\n":{"x":{"y":[[],{}]}},"z":9007199254740993}"#,
    "  [ 1 , 2.0 , \"x\\\"y\" , { \"k\" : false } ]  ",
    r#"{"k0":0,"k1":1,"k2":2,"k3":3,"k4":4,"k5":5,"k6":6,"k7":7,"k8":8,"k9":9,"l0":0,"l1":1,"l2":2,"l3":3,"l4":4,"l5":5,"l6":6}"#,
    "\"é東京🚀\"",
];

const BINARIES: [&[u8]; 4] = [
    b"\x80\xed\x0f\x03\x82id\x82i0\x81n\x0a\x82pk\x82p0",
    b"\x80\xe2\x10\xc0\x02hi\xc3\x03\x7b\x04\x30\x10\x32\x71\x01\xfd\x41\xd2",
    b"\x80\xf2\xf0\xda\x01\x02\x01\x00\x00\x00\x02\x00\x00\x00",
    b"\x80\xe5\x0e\x03\xcc\x00\x00\x00\x00\x00\x00\xf8\x3f\xe9\x2c\xe1\xe0\x05",
];

#[test]
fn random_and_mutated_input_breaks_no_promise() {
    let mut noise = Noise::new(0x0bad_5eed);
    for round in 0..ROUNDS {
        let data = match round % 4 {
            0 => noise.bytes(40),
            _ => noise.damage(TEXTS[round % TEXTS.len()].as_bytes()),
        };
        fuzz::scan_object(&data);
        fuzz::value_parse(&data);
        let data = match round % 4 {
            0 => [&[0x80], noise.bytes(40).as_slice()].concat(),
            _ => noise.damage(BINARIES[round % BINARIES.len()]),
        };
        fuzz::binary_to_text(&data);
    }
}

#[test]
fn the_samples_are_valid_before_mutation() {
    for text in TEXTS {
        orrery_value::scan_value(text.as_bytes()).unwrap();
    }
    for binary in BINARIES {
        orrery_value::binary_to_text(binary).unwrap();
    }
}
