//! The letters of stored access policies.

use orrery_catalog::storage::ServiceKind;

/// Those that a policy of the service may have.
pub fn permissions_of_policies(service: ServiceKind) -> &'static str {
    match service {
        ServiceKind::Blob => "racwdxyltfmeopi",
        ServiceKind::Queue => "raup",
        ServiceKind::Table => "raud",
    }
}
