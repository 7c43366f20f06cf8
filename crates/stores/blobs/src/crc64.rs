//! CRC64 with the polynomial of Azure Storage, eight bytes at a time.

/// Reflected.
const POLYNOMIAL: u64 = 0x9a6c_9329_ac4b_c9b5;

/// A checksum under way.
#[derive(Clone, Copy, Debug)]
pub struct Crc64(u64);

static TABLES: [[u64; 256]; 8] = tables();

const fn tables() -> [[u64; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u64, 0);
        while bit < 8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { POLYNOMIAL } else { 0 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

impl Default for Crc64 {
    fn default() -> Self {
        Self(u64::MAX)
    }
}

impl Crc64 {
    /// Of these bytes alone.
    pub fn of(bytes: &[u8]) -> u64 {
        let mut crc = Self::default();
        crc.update(bytes);
        crc.finish()
    }

    pub fn update(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            let mixed = self.0 ^ u64::from_le_bytes(*word);
            self.0 = (0..8).fold(0, |crc, at| crc ^ TABLES[7 - at][(mixed >> (8 * at)) as usize & 0xff]);
        }
        for byte in rest {
            self.0 = (self.0 >> 8) ^ TABLES[0][(self.0 as u8 ^ byte) as usize];
        }
    }

    pub fn finish(self) -> u64 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_polynomial() {
        assert_eq!(Crc64::of(b"123456789"), 0xae8b_1486_0a79_9888);
        assert_eq!(Crc64::of(b""), 0);
    }

    #[test]
    fn parts_have_the_checksum_of_the_whole() {
        let bytes: Vec<u8> = (0..1000u32).map(|number| (number * 7) as u8).collect();
        for cut in [0, 1, 7, 8, 9, 500, 1000] {
            let mut crc = Crc64::default();
            crc.update(&bytes[..cut]);
            crc.update(&bytes[cut..]);
            assert_eq!(crc.finish(), Crc64::of(&bytes), "{cut}");
        }
    }
}
