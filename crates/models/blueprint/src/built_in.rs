//! The blueprints that come with the binary.

use crate::source::Source;

/// By name, with their text.
const BUILT_IN: [(&str, &str); 4] = [
    ("project-ascension", include_str!("../../../../blueprints/project-ascension.yaml")),
    ("agent-studio", include_str!("../../../../blueprints/agent-studio.yaml")),
    ("asora-notifications", include_str!("../../../../blueprints/asora-notifications.yaml")),
    ("copilot", include_str!("../../../../blueprints/copilot.yaml")),
];

pub fn built_in_names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// Its text, as a file of that name.
pub fn built_in(name: &str) -> Option<Source> {
    let (name, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
    Some(Source { name: format!("{name}.yaml"), text: (*text).to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Variables, read};

    #[test]
    fn each_is_a_blueprint_of_its_name_that_needs_no_notes() {
        for name in built_in_names() {
            let found = read(&[built_in(name).expect("its text")], &Variables::default());
            let found = found.unwrap_or_else(|trouble| panic!("{trouble}"));
            assert_eq!((found.len(), found[0].name.as_str()), (1, name));
            assert_eq!(found[0].notes, [""; 0], "{name}");
            for query in &found[0].queries {
                assert!(
                    query.example().is_some(),
                    "{name}: {} has a parameter without an example",
                    query.name
                );
            }
        }
        assert!(built_in("nobody").is_none());
    }
}
