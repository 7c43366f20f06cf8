//! Aliases: requests under one prefix are handled as those under another path, in which `{user}` is the caller.

use crate::caller::Caller;
use orrery_api_common::percent;
use orrery_api_common::problem::Problem;
use orrery_kit::service::Alias;
use std::borrow::Cow;

const USER: &str = "{user}";

/// The alias of a path, and the rest of the path.
pub fn find<'a>(aliases: &'a [Alias], path: &'a str) -> Option<(&'a Alias, &'a str)> {
    let rest = |alias: &Alias| {
        let rest = path.strip_prefix(alias.prefix)?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    };
    aliases.iter().find_map(|alias| Some((alias, rest(alias)?)))
}

/// The path that the alias stands for.
pub fn resolve<'a>(aliases: &[Alias], path: &'a str, caller: &Caller) -> Result<Cow<'a, str>, Problem> {
    let Some((alias, rest)) = find(aliases, path) else { return Ok(Cow::Borrowed(path)) };
    if !alias.path.contains(USER) {
        return Ok(Cow::Owned(format!("{}{rest}", alias.path)));
    }
    let Caller::User { id, .. } = caller else {
        let detail = format!(
            "paths under {} are of the user whose bearer token comes with them; with a key, ask for {}",
            alias.prefix, alias.path
        );
        return Err(Problem::unauthorized(detail));
    };
    let user = percent::encode_uri(id).replace('/', "%2F").replace('?', "%3F").replace('#', "%23");
    Ok(Cow::Owned(format!("{}{rest}", alias.path.replace(USER, &user))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALIASES: [Alias; 3] = [
        Alias { prefix: "/api/parcels/stats", path: "/v1/parcels/stats" },
        Alias { prefix: "/api/parcels/labels", path: "/v1/users/{user}/labels" },
        Alias { prefix: "/api/parcels", path: "/v1/users/{user}/parcels" },
    ];

    #[test]
    fn an_alias_with_a_user_is_of_the_caller() {
        let caller = Caller::User { id: "a/b%2F é".to_owned(), roles: Vec::new() };
        let check = |path: &str, expected: &str| {
            assert_eq!(resolve(&ALIASES, path, &caller).unwrap(), expected, "{path}");
        };
        check("/v1/users/x", "/v1/users/x");
        check("/api/parcels", "/v1/users/a%2Fb%252F%20%C3%A9/parcels");
        check("/api/parcels/7/read", "/v1/users/a%2Fb%252F%20%C3%A9/parcels/7/read");
        check("/api/parcels/labels/d/tear", "/v1/users/a%2Fb%252F%20%C3%A9/labels/d/tear");
        check("/api/parcels/stats", "/v1/parcels/stats");
        assert_eq!(find(&ALIASES, "/api/parcelsx"), None);
        assert!(resolve(&ALIASES, "/api/parcels", &Caller::Nobody).is_err());
    }
}
