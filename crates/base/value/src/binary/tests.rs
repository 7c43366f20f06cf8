//! Hand-written buffers: each marker once, and malformed ones.

use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn check(hex: &str, expected: &str) {
    let text = binary_to_text(&bytes(hex)).unwrap_or_else(|e| panic!("{hex}: {e}"));
    assert_eq!(String::from_utf8(text).unwrap(), expected, "{hex}");
}

fn refuse(hex: &str, expected: BinaryError) {
    assert_eq!(binary_to_text(&bytes(hex)), Err(expected), "{hex}");
}

#[test]
fn buffers_of_the_rust_client_decode() {
    check("80 ED0F03 826964 826930 816E 0A 82706B 827030", r#"{"id":"i0","n":10,"pk":"p0"}"#);
}

#[test]
fn numbers_of_every_width_are_read() {
    check("80 00", "0");
    check("80 1F", "31");
    check("80 C8 FF", "255");
    check("80 C9 FEFF", "-2");
    check("80 CA 00000080", "-2147483648");
    check("80 CB 0100000000002000", "9007199254740993");
    check("80 C7 FFFFFFFFFFFFFFFF", "18446744073709551615");
    check("80 CC 0000000000000840", "3");
    check("80 CC 0000000000000080", "0");
    check("80 CE 000000000000F83F", "1.5");
    check("80 CD 0000C0BF", "-1.5");
    check("80 CF 003C", "1");
    check("80 CF 01C0", "-2.001953125");
    check("80 CF 0100", "5.960464477539063e-8");
    check("80 E2 0C D7FF D8FF D9FFFF DAFFFFFF7F", "[255,-1,-1,2147483647]");
    check("80 DB FFFFFFFFFFFFFFFF", "-1");
    check("80 DC FFFFFFFF", "4294967295");
    refuse("80 CC 000000000000F07F", BinaryError::NotFinite { at: 2 });
    refuse("80 CF 007C", BinaryError::NotFinite { at: 2 });
}

#[test]
fn strings_of_every_kind_are_read() {
    check("80 80", r#""""#);
    check("80 83 61220A", r#""a\"\n""#);
    check("80 C0 02 C3A9", "\"é\"");
    check("80 C1 0100 61", "\"a\"");
    check("80 C2 01000000 61", "\"a\"");
    check("80 E2 05 20 2C 3B 2B 3F", r#"["$s","id","type","GeometryCollection","_id"]"#);
    refuse("80 81 FF", BinaryError::Text { at: 2 });
    refuse("80 40", BinaryError::Marker { at: 1, marker: 0x40 });
    refuse("80 70", BinaryError::Marker { at: 1, marker: 0x70 });
    refuse("80 82 61", BinaryError::Truncated { at: 2 });
}

#[test]
fn packed_strings_are_unpacked() {
    check("80 78 05 10 32 0F", r#""0123f""#);
    check("80 79 02 AB", r#""BA""#);
    check("80 7A 13 13532CC2432EB5653B0F", r#""2024-11-23T14:45:2Z""#);
    check("80 7B 04 30 10 32", r#""0123""#);
    check("80 7C 03 61 20 08", r#""abc""#);
    check("80 7D 04 61 40 20 0C", r#""abcd""#);
    check("80 7E 02 C8 34", r#""Hi""#);
    check("80 7F 0200 C8 34", r#""Hi""#);
    refuse("80 7D 01 61 3F", BinaryError::Text { at: 1 });
    refuse("80 7E 09 00000000000000", BinaryError::Truncated { at: 3 });
}

#[test]
fn guids_are_written_out() {
    // Text is packed low half first, as by the .NET client.
    check("80 75 1032547698BADCFE0123456789ABCDEF", r#""01234567-89ab-cdef-1032-547698badcfe""#);
    check("80 76 1032547698BADCFE0123456789ABCDEF", r#""01234567-89AB-CDEF-1032-547698BADCFE""#);
    check("80 77 1032547698BADCFE0123456789ABCDEF", r#""\"01234567-89ab-cdef-1032-547698badcfe\"""#);
    check("80 D3 67452301AB89EFCD0123456789ABCDEF", r#""01234567-89ab-cdef-0123-456789abcdef""#);
}

#[test]
fn bytes_become_base64() {
    check("80 71 01 00 666F6F", r#""Zm9v""#);
    check("80 71 01 01 666F", r#""Zm8=""#);
    check("80 71 01 FD 41", r#""QQ""#);
    check("80 72 0200 00 666F6F626172", r#""Zm9vYmFy""#);
    check("80 73 01 00 FBFFFE", r#""-__-""#);
    check("80 74 0100 02 FF", r#""_w==""#);
    check("80 DD 04 DEADBEEF", r#""3q2+7w==""#);
    check("80 DE 0000", r#""""#);
    check("80 DF 03000000 010203", r#""AQID""#);
    refuse("80 71 00 01", BinaryError::Text { at: 1 });
    refuse("80 71 01 80 00", BinaryError::Text { at: 1 });
}

#[test]
fn containers_of_every_form_are_read() {
    check("80 E0", "[]");
    check("80 E1 D2", "[true]");
    check("80 E3 0300 00 D1 D0", "[0,false,null]");
    check("80 E4 01000000 00", "[0]");
    check("80 E5 02 02 E0 E8", "[[],{}]");
    check("80 E6 0300 0100 E1E1E0", "[[[[]]]]");
    check("80 E7 01000000 01000000 05", "[5]");
    check("80 E8", "{}");
    check("80 E9 2C 8161", r#"{"id":"a"}"#);
    check("80 EA 04 2C 00 3B 01", r#"{"id":0,"type":1}"#);
    check("80 EF 02000000 01000000 2C 00", r#"{"id":0}"#);
    check("80 E2 00", "[]");
    refuse("80 E5 02 01 00 00", BinaryError::Length { at: 5 });
    refuse("80 E5 01 02 00 00", BinaryError::Truncated { at: 5 });
    refuse("80 E2 02 C9 00 00", BinaryError::Truncated { at: 4 });
    refuse("80 E2 05 00", BinaryError::Truncated { at: 3 });
    refuse("80 E9 00 00", BinaryError::Name { at: 2 });
    refuse("80 E9 DD 00 00", BinaryError::Name { at: 2 });
}

#[test]
fn number_arrays_are_written_out() {
    check("80 F0 DA 02 01000000 FFFFFFFF", "[1,-1]");
    check("80 F1 D7 0300 00 01 FF", "[0,1,255]");
    check("80 F0 DA 00", "[]");
    check("80 F0 CD 01 0000C03F", "[1.5]");
    check("80 F2 F0 D8 02 03 01 02 03 04 05 FF", "[[1,2],[3,4],[5,-1]]");
    check("80 F3 F1 D9 0100 0200 0100 0200", "[[1],[2]]");
    refuse("80 F0 CB 00", BinaryError::Marker { at: 2, marker: 0xcb });
    refuse("80 F2 F1 D8 00 00", BinaryError::Marker { at: 2, marker: 0xf1 });
}

#[test]
fn references_lead_back_to_strings() {
    check("80 E2 05 826869 C3 03", r#"["hi","hi"]"#);
    check("80 E2 06 826869 C4 0300", r#"["hi","hi"]"#);
    check("80 E2 07 826869 C5 030000", r#"["hi","hi"]"#);
    check("80 E2 08 826869 C6 03000000", r#"["hi","hi"]"#);
    check("80 EA 06 816B 00 C3 03 01", r#"{"k":0,"k":1}"#);
    for bad in ["80 C3 00", "80 C3 01", "80 C3 05", "80 E2 05 826869 C3 02", "80 E2 04 8161 C3 05"] {
        assert!(matches!(binary_to_text(&bytes(bad)), Err(BinaryError::Reference { .. })), "{bad}");
    }
    // To a reference, into the middle of a container, and to a string that would run past the
    // reference.
    for bad in ["80 E2 06 8161 C3 03 C3 05", "80 E2 03 00 C3 03", "80 E1 E2 03 84 C3 04"] {
        assert!(binary_to_text(&bytes(bad)).is_err(), "{bad}");
    }
}

#[test]
fn buffers_without_exactly_one_value_are_refused() {
    refuse("", BinaryError::Preamble);
    refuse("7B7D", BinaryError::Preamble);
    refuse("80", BinaryError::Truncated { at: 1 });
    refuse("80 00 00", BinaryError::Trailing { at: 2 });
    refuse("80 FF", BinaryError::Marker { at: 1, marker: 0xff });
    refuse("80 D4", BinaryError::Marker { at: 1, marker: 0xd4 });
}

#[test]
fn depth_is_limited() {
    let nested = |levels: usize| [vec![0x80], vec![0xe1; levels], vec![0xe0]].concat();
    assert!(binary_to_text(&nested(NESTING_LEVELS_MAX - 1)).is_ok());
    assert!(matches!(binary_to_text(&nested(NESTING_LEVELS_MAX)), Err(BinaryError::TooDeep { .. })));
    assert!(matches!(binary_to_text(&nested(1_000_000)), Err(BinaryError::TooDeep { .. })));
}

#[test]
fn many_references_to_one_long_string_are_refused() {
    let mut buffer = vec![0x80, 0xe4, 0, 0, 0, 0, 0xc1, 0xff, 0xff];
    buffer.extend(std::iter::repeat_n(b'a', 0xffff));
    buffer.extend([0xc3, 6].repeat(10_000));
    let length = u32::try_from(buffer.len() - 6).unwrap();
    buffer[2..6].copy_from_slice(&length.to_le_bytes());
    assert_eq!(binary_to_text(&buffer), Err(BinaryError::TooLong));
}
