//! The built-in plans: between the layouts of the seed documents, in both directions.

use crate::{Plan, PlanError};

/// Names and descriptions.
pub const BUILT_IN: [(&str, &str); 6] = [
    ("copilot-split", "the one container of copilot becomes five, with keys of their own"),
    ("copilot-join", "and back"),
    ("copilot-split-by-id", "the same five, all partitioned by their ids"),
    ("copilot-join-by-id", "and back"),
    ("ascension-to-studio", "workflows with embedded checkpoints become workflows and checkpoints"),
    ("studio-to-ascension", "and back"),
];

const SPLIT: &str = include_str!("../plans/copilot-split.yaml");
const SPLIT_BY_ID: &str = include_str!("../plans/copilot-split-by-id.yaml");
const ASCENSION: &str = include_str!("../plans/ascension-to-studio.yaml");

/// `None`: no plan has this name.
pub fn built_in(name: &str) -> Option<Result<Plan, PlanError>> {
    let forward = |text| Plan::parse(name, text);
    let back = |text| Ok(Plan { name: name.to_owned(), ..forward(text)?.reversed()? });
    Some(match name {
        "copilot-split" => forward(SPLIT),
        "copilot-join" => back(SPLIT),
        "copilot-split-by-id" => forward(SPLIT_BY_ID),
        "copilot-join-by-id" => back(SPLIT_BY_ID),
        "ascension-to-studio" => forward(ASCENSION),
        "studio-to-ascension" => back(ASCENSION),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_plan_is_one_and_can_be_reversed() {
        for (name, _) in BUILT_IN {
            let plan = built_in(name).expect(name).expect(name);
            assert_eq!(plan.name, name);
            let back = plan.reversed().expect(name);
            assert_eq!((&back.source, &back.target), (&plan.target, &plan.source));
            assert_eq!(back.reversed().expect(name).rules, plan.rules);
        }
        assert!(built_in("no-such").is_none());
    }
}
