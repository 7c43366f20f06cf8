//! Input nobody meant: bytes from a seed, and samples with a few bytes changed.

/// The same seed, the same noise.
pub struct Noise(u64);

impl Noise {
    /// The seed must not be zero.
    pub fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn byte(&mut self) -> u8 {
        self.word() as u8
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.word() >> 16) as usize % limit
    }

    /// Up to so many bytes.
    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most)).map(|_| self.byte()).collect()
    }

    pub fn one_of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// The sample with up to three bytes changed, added, copied or left out.
    pub fn damage(&mut self, sample: &[u8]) -> Vec<u8> {
        let mut data = sample.to_vec();
        for _ in 0..1 + self.below(3) {
            let at = self.below(data.len());
            match self.below(4) {
                0 => data[at] = self.byte(),
                1 => data[at] = data[self.below(sample.len()).min(data.len() - 1)],
                2 => data.insert(at, self.byte()),
                _ if data.len() > 1 => drop(data.remove(at)),
                _ => {}
            }
        }
        data
    }
}
