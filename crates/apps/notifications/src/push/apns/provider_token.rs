//! The provider token: signed here, used for 50 minutes. APNs refuses tokens older than an hour, and limits
//! new ones to one in 20 minutes.
//!
//! ```text
//! made              20 min               50 min     60 min
//! |------------------|---------------------|----------|
//! | kept even if APNs calls it expired     | replaced | refused
//!   a second time: the clock is wrong
//! ```

use crate::push::key::NamedKey;
use orrery_core::Timestamp;
use serde_json::json;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub struct ProviderToken {
    key: NamedKey,
    team: String,
    held: Mutex<Option<Held>>,
}

struct Held {
    token: String,
    made: Timestamp,
    /// Whether it replaced a token that APNs called expired.
    is_replacement: bool,
}

const USED_FOR: Duration = Duration::from_secs(50 * 60);
const REPLACED_AFTER: Duration = Duration::from_secs(20 * 60);

impl ProviderToken {
    pub fn new(key: NamedKey, team: String) -> Self {
        Self { key, team, held: Mutex::default() }
    }

    /// The token. If APNs called the current one expired, it is replaced, unless it is itself a recent
    /// replacement.
    pub fn get(&self, now: Timestamp, expired: Option<&str>) -> Result<String, String> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let is_expired = |held: &Held| expired == Some(&*held.token);
        if let Some(held) = &*held
            // After the clock was set back, the token would be from the future and be refused.
            && now >= held.made
            && now < held.made.plus(if is_expired(held) { REPLACED_AFTER } else { USED_FOR })
            && (!is_expired(held) || held.is_replacement)
        {
            return Ok(held.token.clone());
        }
        let token = self.key.sign(&json!({ "iss": self.team, "iat": now.seconds() }))?;
        let fresh = Held { token: token.clone(), made: now, is_replacement: expired.is_some() };
        *held = Some(fresh);
        Ok(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::push::key::p256_pem;

    fn token() -> ProviderToken {
        ProviderToken::new(
            NamedKey::es256(&p256_pem(), "ABC1234567").expect("a key"),
            "DEF7654321".to_owned(),
        )
    }

    fn at(minutes: u64) -> Timestamp {
        Timestamp::from_seconds(1_800_000_000 + minutes * 60)
    }

    #[test]
    fn it_is_used_for_fifty_minutes() {
        let token = token();
        let first = token.get(at(0), None).expect("signed");
        assert_eq!(token.get(at(49), None).as_ref(), Ok(&first));
        let second = token.get(at(50), None).expect("signed");
        assert_ne!(second, first);
        assert_eq!(token.get(at(51), None), Ok(second));
    }

    #[test]
    fn an_expired_one_is_replaced_once_by_whoever_is_first() {
        let token = token();
        let first = token.get(at(0), None).expect("signed");
        let second = token.get(at(1), Some(&first)).expect("signed");
        assert_ne!(second, first);
        // Another push was refused with the first token too.
        assert_eq!(token.get(at(1), Some(&first)).as_ref(), Ok(&second));
        // The replacement is called expired too: a clock is wrong, and new tokens do not help.
        assert_eq!(token.get(at(2), Some(&second)).as_ref(), Ok(&second));
        assert_ne!(token.get(at(21), Some(&second)).as_ref(), Ok(&second));
    }

    #[test]
    fn a_clock_that_was_set_back_makes_a_new_one() {
        let token = token();
        let first = token.get(at(100), None).expect("signed");
        assert_ne!(token.get(at(0), None), Ok(first));
    }
}
