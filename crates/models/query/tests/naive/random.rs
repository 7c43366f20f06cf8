//! Numbers from a seed: the same seed, the same case, on every machine.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        // Small seeds differ in few bits; some rounds spread them.
        for _ in 0..8 {
            random.next();
        }
        random
    }

    /// xorshift64*
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From zero to below `limit`, which is not zero.
    pub fn below(&mut self, limit: usize) -> usize {
        ((self.next() >> 33) as usize) % limit
    }

    /// True in so many of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

#[test]
fn a_seed_gives_the_same_numbers_and_another_seed_others() {
    let draw =
        |seed| (0..5).map(|_| 0).scan(Random::new(seed), |r, _: i32| Some(r.next())).collect::<Vec<_>>();
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
}
