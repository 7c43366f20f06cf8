//! How much an answer says beside the properties: nothing, what a client cannot guess, or everything.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    None,
    Minimal,
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedFormat {
    #[error("Atom format is not supported.")]
    Atom,
    #[error("None of the provided media types are supported")]
    MediaType,
}

impl Level {
    /// What a request asks for: `$format` if it has one, else the first media type of `Accept` that can be written.
    pub fn asked(accept: Option<&str>, format: Option<&str>) -> Result<Self, UnsupportedFormat> {
        match (format.map(str::trim).filter(|format| !format.is_empty()), accept) {
            (Some(format), _) if format.eq_ignore_ascii_case("json") => Ok(Self::Minimal),
            (Some(format), _) if format.eq_ignore_ascii_case("atom") => Err(UnsupportedFormat::Atom),
            (Some(wanted), _) | (None, Some(wanted)) => Self::first_of(wanted),
            (None, None) => Ok(Self::Minimal),
        }
    }

    fn first_of(wanted: &str) -> Result<Self, UnsupportedFormat> {
        if let Some(level) = wanted.split(',').find_map(Self::of_media_type) {
            return Ok(level);
        }
        let is_atom = wanted.to_ascii_lowercase().contains("application/atom+xml");
        Err(if is_atom { UnsupportedFormat::Atom } else { UnsupportedFormat::MediaType })
    }

    fn of_media_type(media_type: &str) -> Option<Self> {
        let mut pieces = media_type.split(';').map(str::trim);
        let kind = pieces.next()?.to_ascii_lowercase();
        if !matches!(kind.as_str(), "" | "*/*" | "application/*" | "application/json") {
            return None;
        }
        let level = pieces.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("odata").then(|| value.trim().to_ascii_lowercase())
        });
        match level.as_deref() {
            None | Some("minimalmetadata") => Some(Self::Minimal),
            Some("nometadata") => Some(Self::None),
            Some("fullmetadata" | "verbose") => Some(Self::Full),
            Some(_) => None,
        }
    }

    pub fn content_type(self) -> &'static str {
        match self {
            Self::None => "application/json;odata=nometadata;streaming=true;charset=utf-8",
            Self::Minimal => "application/json;odata=minimalmetadata;streaming=true;charset=utf-8",
            Self::Full => "application/json;odata=fullmetadata;streaming=true;charset=utf-8",
        }
    }
}

/// Whether a body of this content type can be read. Whatever is not Atom is taken for JSON.
pub fn check_content_type(content_type: Option<&str>) -> Result<(), UnsupportedFormat> {
    let is_atom = |kind: &str| kind.trim().to_ascii_lowercase().starts_with("application/atom+xml");
    if content_type.is_some_and(is_atom) { Err(UnsupportedFormat::Atom) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_is_what_format_says_or_accept() {
        let check = |accept: Option<&str>, format: Option<&str>, expected| {
            assert_eq!(Level::asked(accept, format), expected, "{accept:?} {format:?}");
        };
        check(None, None, Ok(Level::Minimal));
        check(Some("application/json"), None, Ok(Level::Minimal));
        check(Some("application/json;odata=nometadata"), None, Ok(Level::None));
        check(Some("application/json; odata=FullMetadata; charset=utf-8"), None, Ok(Level::Full));
        check(Some("application/atom+xml, application/json;odata=nometadata"), None, Ok(Level::None));
        check(Some("*/*"), None, Ok(Level::Minimal));
        check(Some("application/json;odata=nometadata"), Some("json"), Ok(Level::Minimal));
        check(Some("application/atom+xml"), Some("application/json;odata=fullmetadata"), Ok(Level::Full));
        check(Some("application/atom+xml,application/xml"), None, Err(UnsupportedFormat::Atom));
        check(None, Some("atom"), Err(UnsupportedFormat::Atom));
        check(Some("text/html"), None, Err(UnsupportedFormat::MediaType));
    }

    #[test]
    fn a_body_is_anything_but_atom() {
        assert_eq!(check_content_type(None), Ok(()));
        assert_eq!(check_content_type(Some("application/json;odata=nometadata")), Ok(()));
        assert_eq!(check_content_type(Some("application/atom+xml;type=entry")), Err(UnsupportedFormat::Atom));
    }
}
