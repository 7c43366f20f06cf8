//! Numbers of binary JSON, converted to text.

use super::BinaryError;
use super::cursor::Cursor;
use crate::number::Number;

/// Writes the number with this marker, whose bytes follow.
pub(super) fn write(marker: u8, input: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), BinaryError> {
    let at = input.at;
    let int = match marker {
        0x00..=0x1f => i64::from(marker),
        0xc7 => return write_u64(u64::from_le_bytes(input.array()?), out),
        0xc8 | 0xd7 => i64::from(input.u8()?),
        0xd8 => i64::from(i8::from_le_bytes(input.array()?)),
        0xc9 | 0xd9 => i64::from(i16::from_le_bytes(input.array()?)),
        0xca | 0xda => i64::from(i32::from_le_bytes(input.array()?)),
        0xcb | 0xdb => i64::from_le_bytes(input.array()?),
        0xdc => i64::from(u32::from_le_bytes(input.array()?)),
        0xcc | 0xce => return write_float(f64::from_le_bytes(input.array()?), at, out),
        0xcd => return write_float(f64::from(f32::from_le_bytes(input.array()?)), at, out),
        0xcf => return write_float(half(u16::from_le_bytes(input.array()?)), at, out),
        _ => return Err(BinaryError::Marker { at, marker }),
    };
    Number::Int(int).write_json(out);
    Ok(())
}

fn write_u64(int: u64, out: &mut Vec<u8>) -> Result<(), BinaryError> {
    out.extend_from_slice(int.to_string().as_bytes());
    Ok(())
}

fn write_float(float: f64, at: usize, out: &mut Vec<u8>) -> Result<(), BinaryError> {
    if !float.is_finite() {
        return Err(BinaryError::NotFinite { at });
    }
    Number::Float(float).write_json(out);
    Ok(())
}

/// An IEEE 754 half: sign, five bits of exponent, ten of fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    match i32::from(bits >> 10 & 0x1f) {
        0 => sign * fraction * 2f64.powi(-14),
        31 => f64::NAN,
        exponent => sign * (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}
