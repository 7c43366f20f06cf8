//! The text of a message: it names the message and the attempt that wrote it, and proves that it is whole.

use crate::history::Seq;
use xxhash_rust::xxh3::xxh3_64;

const FILLER_CHARS_MAX: u64 = 600;
/// One in so many is a large one.
const LARGE_EVERY: u64 = 50;
const LARGE_CHARS_MAX: u64 = 60_000;

/// The text that this attempt gives the message. `random` chooses the filler.
pub fn text(message: Seq, attempt: Seq, random: u64) -> String {
    let most = if random.is_multiple_of(LARGE_EVERY) { LARGE_CHARS_MAX } else { FILLER_CHARS_MAX };
    let length = (random / LARGE_EVERY % most) as usize;
    // Some of it has to be escaped in XML.
    let filler: String = format!("<{random:x}&>").chars().cycle().take(length).collect();
    let content = format!("{message}:{attempt}:{filler}");
    format!("{:016x}:{content}", xxh3_64(content.as_bytes()))
}

/// The message and the attempt, or what is wrong with the text.
pub fn read(text: &str) -> Result<(Seq, Seq), String> {
    let wrong = || format!("half a message: {}", text.chars().take(100).collect::<String>());
    let (sum, content) = text.split_once(':').ok_or_else(wrong)?;
    if sum != format!("{:016x}", xxh3_64(content.as_bytes())) {
        return Err(wrong());
    }
    let mut parts = content.splitn(3, ':').map(str::parse);
    match (parts.next(), parts.next()) {
        (Some(Ok(message)), Some(Ok(attempt))) => Ok((message, attempt)),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_back_and_half_of_one_is_not() {
        let whole = text(3, 9, 123_456);
        assert_eq!(read(&whole), Ok((3, 9)));
        assert!(read(&whole[..whole.len() - 1]).is_err());
        assert!(read(&whole.replace(":9:", ":8:")).is_err());
        assert!(read("").is_err());
    }
}
