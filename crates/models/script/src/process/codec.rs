//! Values of messages as bytes: numbers of eight bytes, little-endian; texts with their length before them.

/// The bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

#[derive(Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub fn tag(&mut self, tag: u8) -> &mut Self {
        self.0.push(tag);
        self
    }

    pub fn number(&mut self, number: u64) -> &mut Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub fn text(&mut self, text: &str) -> &mut Self {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    pub fn optional(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            None => self.tag(0),
            Some(text) => self.tag(1).text(text),
        }
    }

    pub fn optional_number(&mut self, number: Option<u64>) -> &mut Self {
        match number {
            None => self.tag(0),
            Some(number) => self.tag(1).number(number),
        }
    }
}

pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed) }
    }

    pub fn tag(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.0.split_first().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*first)
    }

    pub fn number(&mut self) -> Result<u64, Malformed> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*bytes))
    }

    pub fn size(&mut self) -> Result<usize, Malformed> {
        usize::try_from(self.number()?).map_err(|_| Malformed)
    }

    pub fn text(&mut self) -> Result<&'a str, Malformed> {
        let length = self.size()?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        std::str::from_utf8(bytes).map_err(|_| Malformed)
    }

    pub fn optional(&mut self) -> Result<Option<&'a str>, Malformed> {
        match self.tag()? {
            0 => Ok(None),
            1 => self.text().map(Some),
            _ => Err(Malformed),
        }
    }

    pub fn optional_number(&mut self) -> Result<Option<u64>, Malformed> {
        match self.tag()? {
            0 => Ok(None),
            1 => self.number().map(Some),
            _ => Err(Malformed),
        }
    }
}
