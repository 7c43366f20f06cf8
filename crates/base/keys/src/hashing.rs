//! Hashing of partition keys: from values to a position in the key space.
//!
//! | kind      | hash of            | by                  | then                                            |
//! |-----------|--------------------|---------------------|-------------------------------------------------|
//! | HashV2    | all components     | MurmurHash3, 128 bit| reversed, two top bits clear: 16 bytes          |
//! | MultiHash | each component     | the same            | one after another: 16 bytes a level             |
//! | HashV1    | all components     | MurmurHash3, 32 bit | as a number, followed by the values themselves  |
//!
//! Clients compute the same values, but some of them differ in version 1; these are the service's.

use orrery_value::Value;

use crate::epk::Epk;
use crate::murmur;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hashing {
    HashV1,
    HashV2,
    MultiHash,
}

/// Version 1 uses at most this prefix of a string: in characters (UTF-16 units) and in bytes.
const V1_STRING_UNITS_MAX: usize = 100;
const V1_STRING_BYTES_MAX: usize = 100;

mod tag {
    pub const UNDEFINED: u8 = 0x00;
    pub const NULL: u8 = 0x01;
    pub const FALSE: u8 = 0x02;
    pub const TRUE: u8 = 0x03;
    pub const NUMBER: u8 = 0x05;
    pub const STRING: u8 = 0x08;
}

/// The effective partition key of these components. Fewer components than paths give the common prefix of all
/// keys below (hierarchical keys only); no components give the start of the key space. An array or object
/// cannot be a partition key and counts as undefined.
pub fn epk(hashing: Hashing, components: &[Value]) -> Epk {
    if components.is_empty() {
        return Epk::start();
    }
    Epk::computed(match hashing {
        Hashing::HashV1 => hash_v1(components),
        Hashing::HashV2 => hash_v2(components).to_vec(),
        Hashing::MultiHash => {
            components.iter().flat_map(|component| hash_v2(std::slice::from_ref(component))).collect()
        }
    })
}

fn hash_v2(components: &[Value]) -> [u8; 16] {
    const STRING_END: u8 = 0xff;
    let mut input = Vec::new();
    components.iter().for_each(|component| write_hashed(component, STRING_END, &mut input));
    let (first, second) = murmur::x64_128(&input);
    // Two clear bits keep every hash below FF, the end of the key space.
    let hash = (u128::from(second) << 64 | u128::from(first)) & (u128::MAX >> 2);
    hash.to_be_bytes()
}

fn hash_v1(components: &[Value]) -> Vec<u8> {
    const STRING_END: u8 = 0x00;
    let cut: Vec<Value> = components.iter().map(cut_v1).collect();
    let mut input = Vec::new();
    cut.iter().for_each(|component| write_hashed(component, STRING_END, &mut input));
    let mut out = encode_number(f64::from(murmur::x86_32(&input)));
    cut.iter().for_each(|component| write_v1(component, &mut out));
    out
}

/// A cut through a surrogate pair leaves U+FFFD, as in clients that do the same.
fn cut_v1(component: &Value) -> Value {
    match component {
        Value::String(text) if text.len() > V1_STRING_UNITS_MAX => {
            let units: Vec<u16> = text.encode_utf16().take(V1_STRING_UNITS_MAX).collect();
            Value::String(String::from_utf16_lossy(&units))
        }
        other => other.clone(),
    }
}

/// A component as input of the hash.
fn write_hashed(component: &Value, string_end: u8, out: &mut Vec<u8>) {
    out.push(component_tag(component));
    match component {
        Value::Number(number) => out.extend_from_slice(&plain_zero(number.as_f64()).to_le_bytes()),
        Value::String(text) => {
            out.extend_from_slice(text.as_bytes());
            out.push(string_end);
        }
        _ => {}
    }
}

/// A component as version 1 appends it to the hash, in a form that sorts by value.
fn write_v1(component: &Value, out: &mut Vec<u8>) {
    match component {
        Value::Number(number) => out.extend(encode_number(plain_zero(number.as_f64()))),
        Value::String(text) => {
            out.push(tag::STRING);
            out.extend(text.bytes().take(V1_STRING_BYTES_MAX + 1).map(|byte| byte.wrapping_add(1)));
            if text.len() <= V1_STRING_BYTES_MAX {
                out.push(0);
            }
        }
        other => out.push(component_tag(other)),
    }
}

fn component_tag(component: &Value) -> u8 {
    match component {
        Value::Undefined | Value::Array(_) | Value::Object(_) => tag::UNDEFINED,
        Value::Null => tag::NULL,
        Value::Bool(false) => tag::FALSE,
        Value::Bool(true) => tag::TRUE,
        Value::Number(_) => tag::NUMBER,
        Value::String(_) => tag::STRING,
    }
}

/// The service stores -0.0 as 0, so both are one partition.
fn plain_zero(float: f64) -> f64 {
    if float == 0.0 { 0.0 } else { float }
}

/// A number in version 1: bits that sort as doubles do, first eight and then seven per byte. The low bit of
/// each byte after the first tells whether another follows; trailing zero bits are omitted.
pub(crate) fn encode_number(float: f64) -> Vec<u8> {
    const SIGN: u64 = 1 << 63;
    let bits = float.to_bits();
    let ordered = if bits & SIGN == 0 { bits ^ SIGN } else { bits.wrapping_neg() };
    let mut out = vec![tag::NUMBER, (ordered >> 56) as u8];
    let mut rest = ordered << 8;
    loop {
        let byte = (rest >> 56) as u8;
        rest <<= 7;
        if rest == 0 {
            out.push(byte & 0xfe);
            return out;
        }
        out.push(byte | 1);
    }
}

/// The leading number of a version 1 key.
pub(crate) fn decode_number(bytes: &[u8]) -> Option<f64> {
    const SIGN: u64 = 1 << 63;
    let [tag::NUMBER, first, rest @ ..] = bytes else { return None };
    let mut ordered = u64::from(*first) << 56;
    let mut shift = 49u32;
    for byte in rest {
        ordered |= u64::from(byte >> 1) << shift;
        if byte & 1 == 0 || shift == 0 {
            let bits = if ordered & SIGN == 0 { ordered.wrapping_neg() } else { ordered ^ SIGN };
            return Some(f64::from_bits(bits));
        }
        shift -= 7;
    }
    None
}

#[cfg(test)]
mod tests;
