//! Containers: their definitions, and creating, changing, dropping and restoring them.

mod definition;
mod list;
mod operations;
mod record;
mod sweep;

pub use definition::{
    Container, ContainerConditions, ContainerDeletion, ContainerPage, ContainerVersion, ListContainers,
    NewContainer, PublicAccess,
};
pub use list::list;
pub use operations::{
    all, create, delete, expire_deleted, lease, load, numbers, restore, set_access, set_metadata,
};
pub use sweep::{step, sweeps};
