//! Event types: the seed's twelve, their aliases, and those that a policy adds (C-37).
//!
//! A stored event has the type's own name, never an alias, so the seed's queries and schemas hold.

use super::Policy;
use super::template::Template;
use crate::limits;
use crate::records::Category;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// An event type, as written in a policy. The texts are templates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Kind {
    pub name: String,
    pub category: Category,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    pub title: String,
    /// For several events of one dedupe key; equals `title` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title_of_many: Option<String>,
    #[serde(default = "default_body")]
    pub body: String,
    #[serde(default = "default_deeplink")]
    pub deeplink: String,
}

fn default_body() -> String {
    "{snippet}".to_owned()
}

fn default_deeplink() -> String {
    "asora://{targetType}/{targetId}".to_owned()
}

/// A type with its parsed templates.
#[derive(Clone, Debug)]
pub struct Known {
    pub name: String,
    pub category: Category,
    pub(super) title: Template,
    pub(super) title_of_many: Template,
    pub(super) body: Template,
    pub(super) deeplink: Template,
}

/// All types of a policy, by names and aliases. A cheap handle.
#[derive(Clone, Debug)]
pub struct Registry {
    by_name: Arc<HashMap<String, Arc<Known>>>,
    names: Arc<Vec<String>>,
}

impl Registry {
    /// The seed's types and the policy's; the error is a sentence for the author of the policy.
    pub fn of(policy: &Policy) -> Result<Self, String> {
        if policy.kinds.len() > limits::NOTIFICATION_KINDS_MAX {
            return Err(format!("eventTypes has more than {} entries", limits::NOTIFICATION_KINDS_MAX));
        }
        let is_replaced = |kind: &Kind| policy.kinds.iter().any(|other| other.name == kind.name);
        let seed = seed_kinds().into_iter().filter(|kind| !is_replaced(kind));
        let mut registry = (HashMap::new(), Vec::new());
        for kind in seed.chain(policy.kinds.iter().cloned()) {
            add(&mut registry, &kind).map_err(|why| format!("eventTypes, {}: {why}", kind.name))?;
        }
        Ok(Self { by_name: Arc::new(registry.0), names: Arc::new(registry.1) })
    }

    /// Finds a type by name or alias.
    pub fn find(&self, name: &str) -> Option<&Known> {
        self.by_name.get(name).map(|known| &**known)
    }

    /// The types' own names, the seed's first.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

fn add(registry: &mut (HashMap<String, Arc<Known>>, Vec<String>), kind: &Kind) -> Result<(), String> {
    if kind.aliases.len() > limits::NOTIFICATION_ALIASES_MAX {
        return Err(format!("more than {} aliases", limits::NOTIFICATION_ALIASES_MAX));
    }
    let known = Arc::new(known(kind)?);
    for name in std::iter::once(&kind.name).chain(&kind.aliases) {
        if !is_name(name) {
            return Err(format!(
                "'{name}' is no name; give capital letters, digits and _, such as POST_LIKE"
            ));
        }
        if registry.0.insert(name.clone(), known.clone()).is_some() {
            return Err(format!("the name {name} is there twice"));
        }
    }
    registry.1.push(kind.name.clone());
    Ok(())
}

fn known(kind: &Kind) -> Result<Known, String> {
    let parse = |member: &str, text: &str| Template::parse(text).map_err(|why| format!("{member} {why}"));
    Ok(Known {
        name: kind.name.clone(),
        category: kind.category,
        title: parse("title", &kind.title)?,
        title_of_many: parse("titleOfMany", kind.title_of_many.as_ref().unwrap_or(&kind.title))?,
        body: parse("body", &kind.body)?,
        deeplink: parse("deeplink", &kind.deeplink)?,
    })
}

fn is_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=100).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.bytes().all(is_letter)
}

/// The deeplink for account events.
const ACCOUNT: &str = "asora://user/{targetId}";
/// The deeplink for something another user did: that user.
const ACTOR: &str = "asora://user/{actorId,targetId}";

/// S2-04, with the aliases of the real project.
fn seed_kinds() -> Vec<Kind> {
    use Category::{Marketing, News, Safety, Security, Social};
    let row =
        |name: &str, category, aliases: &[&str], title: &str, many: Option<&str>, body: &str, link: &str| {
            Kind {
                name: name.to_owned(),
                category,
                aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
                title: title.to_owned(),
                title_of_many: many.map(str::to_owned),
                body: body.to_owned(),
                deeplink: link.to_owned(),
            }
        };
    let link = &*default_deeplink();
    vec![
        row(
            "POST_LIKE",
            Social,
            &["POST_LIKED", "COMMENT_LIKED", "LIKE"],
            "{actorName:Someone} liked your {targetType}",
            Some("{actorName:Someone} and {others} liked your {targetType}"),
            "{snippet}",
            link,
        ),
        row(
            "POST_COMMENT",
            Social,
            &["POST_COMMENTED", "COMMENT_CREATED"],
            "{actorName:Someone} commented on your {targetType}",
            Some("{actorName:Someone} and {others} commented on your {targetType}"),
            "{snippet}",
            link,
        ),
        row(
            "POST_SHARE",
            Social,
            &["POST_SHARED", "POST_REPOSTED"],
            "{actorName:Someone} shared your {targetType}",
            Some("{actorName:Someone} and {others} shared your {targetType}"),
            "{snippet}",
            link,
        ),
        row(
            "COMMENT_REPLY",
            Social,
            &["COMMENT_REPLIED", "REPLY_CREATED"],
            "{actorName:Someone} replied to your {targetType}",
            Some("{actorName:Someone} and {others} replied to your {targetType}"),
            "{snippet}",
            link,
        ),
        row(
            "FOLLOWER_NEW",
            Social,
            &["USER_FOLLOWED", "NEW_FOLLOWER"],
            "{actorName:Someone} follows you",
            Some("{actorName:Someone} and {others} follow you"),
            "{snippet:Say hello}",
            ACTOR,
        ),
        row(
            "SAFETY_CONTENT_FLAGGED",
            Safety,
            &["CONTENT_FLAGGED", "MODERATION_DECISION_MADE"],
            "Your {targetType} was flagged",
            Some("Your {targetType} was flagged {count} times"),
            "{snippet:We are looking into it}",
            link,
        ),
        row(
            "SAFETY_ACCOUNT_WARNING",
            Safety,
            &["ACCOUNT_WARNING", "SAFETY_WARNING"],
            "A warning about your account",
            None,
            "{snippet:Please read our rules}",
            ACCOUNT,
        ),
        row(
            "SECURITY_NEW_DEVICE",
            Security,
            &["NEW_DEVICE_LOGIN", "SECURITY_LOGIN_NEW_DEVICE"],
            "A new device signed in",
            None,
            "{deviceLabel,snippet:Was it you?}",
            ACCOUNT,
        ),
        row(
            "SECURITY_PASSWORD_CHANGED",
            Security,
            &["PASSWORD_CHANGED"],
            "Your password was changed",
            None,
            "{snippet:If it was not you, lock your account}",
            ACCOUNT,
        ),
        row(
            "SECURITY_ACCOUNT_LOCKED",
            Security,
            &["ACCOUNT_LOCKED"],
            "Your account is locked",
            None,
            "{snippet:Sign in to unlock it}",
            ACCOUNT,
        ),
        row(
            "NEWS_SYSTEM_UPDATE",
            News,
            &["SYSTEM_UPDATE", "NEWS_UPDATE"],
            "{title:News from Asora}",
            None,
            "{snippet:See what is new}",
            link,
        ),
        row(
            "MARKETING_PROMOTION",
            Marketing,
            &["PROMOTION", "MARKETING_CAMPAIGN"],
            "{title:Something for you}",
            None,
            "{snippet:Have a look}",
            link,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(kinds: &str) -> Result<Registry, String> {
        let kinds = serde_json::from_str(kinds).expect("kinds");
        Registry::of(&Policy { kinds, ..Policy::default() })
    }

    #[test]
    fn the_seeds_twelve_are_known_with_their_categories() {
        // S2-04, S2-05.
        let registry = registry("[]").expect("the seed's");
        assert_eq!(registry.names().len(), 12);
        for name in registry.names() {
            let known = registry.find(name).expect("by its name");
            let expected = match name.split('_').next() {
                Some("POST" | "COMMENT" | "FOLLOWER") => Category::Social,
                Some("SAFETY") => Category::Safety,
                Some("SECURITY") => Category::Security,
                Some("NEWS") => Category::News,
                _ => Category::Marketing,
            };
            assert_eq!((&known.name, known.category), (name, expected));
        }
    }

    #[test]
    fn aliases_lead_to_the_seeds_names() {
        let registry = registry("[]").expect("the seed's");
        let check =
            |alias: &str, name: &str| assert_eq!(registry.find(alias).map(|known| &*known.name), Some(name));
        check("POST_LIKED", "POST_LIKE");
        check("USER_FOLLOWED", "FOLLOWER_NEW");
        check("PASSWORD_CHANGED", "SECURITY_PASSWORD_CHANGED");
        assert!(registry.find("post_like").is_none() && registry.find("").is_none());
    }

    #[test]
    fn a_policy_adds_types_and_replaces_the_seeds() {
        let registry = registry(
            r#"[{"name": "NEWS_WEEKLY", "category": "NEWS", "aliases": ["WEEKLY"], "title": "This week"},
                {"name": "POST_LIKE", "category": "SOCIAL", "title": "A like"}]"#,
        )
        .expect("a policy's");
        assert_eq!(registry.names().len(), 13);
        assert_eq!(registry.find("WEEKLY").map(|known| known.category), Some(Category::News));
        assert!(registry.find("POST_LIKED").is_none(), "the replaced type's aliases are gone with it");
    }

    #[test]
    fn a_type_that_is_wrong_is_refused_by_name() {
        let check = |kinds: &str, fragment: &str| {
            let sentence = registry(kinds).expect_err(kinds);
            assert!(sentence.starts_with("eventTypes, ") && sentence.contains(fragment), "{sentence}");
        };
        check(r#"[{"name": "lower", "category": "NEWS", "title": ""}]"#, "no name");
        check(
            r#"[{"name": "A", "category": "NEWS", "title": ""}, {"name": "A", "category": "NEWS", "title": ""}]"#,
            "twice",
        );
        check(r#"[{"name": "A", "category": "NEWS", "title": "", "aliases": ["POST_LIKED"]}]"#, "POST_LIKED");
        check(r#"[{"name": "A", "category": "NEWS", "title": "{open"}]"#, "title");
    }
}
