//! The containers: the four of the seed, as its blueprint has them, and one of our own.

use orrery_blueprint::{Variables, built_in, read};
use orrery_kit::ports::documents::Layout;

pub const EVENTS: &str = "notification_events";
pub const NOTIFICATIONS: &str = "notifications";
pub const PREFERENCES: &str = "notification_preferences";
pub const DEVICES: &str = "device_tokens";
/// Tombstones, idempotency records, leases, the history of jobs; by `partition`.
pub const SERVICE: &str = "notification_service";
/// The seed's.
pub const DATABASE: &str = "asora";

/// Definitions of all five. The error is a sentence, and possible only in a broken build.
pub fn layout() -> Result<Vec<Layout>, String> {
    let source =
        built_in("asora-notifications").ok_or("the blueprint asora-notifications is not built in")?;
    let found = read(&[source], &Variables::default()).map_err(|trouble| trouble.to_string())?;
    let containers = found.iter().flat_map(|blueprint| &blueprint.containers);
    let of_seed = containers.map(|container| Layout { definition: container.definition.to_json().into() });
    Ok(of_seed.chain([orrery_kit::service_container(SERVICE)]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_five_by_user_and_one_by_partition() {
        let layout = layout().expect("the blueprint");
        let of = |at: usize, member: &str| layout[at].definition[member].clone();
        let names: Vec<_> = (0..layout.len()).map(|at| of(at, "id")).collect();
        assert_eq!(names, [EVENTS, NOTIFICATIONS, PREFERENCES, DEVICES, SERVICE]);
        for at in 0..4 {
            assert_eq!(of(at, "partitionKey")["paths"][0], "/userId");
        }
        assert_eq!(of(0, "defaultTtl"), 2_592_000);
        assert_eq!(of(4, "partitionKey")["paths"][0], "/partition");
    }
}
