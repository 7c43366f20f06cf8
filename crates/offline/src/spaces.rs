//! The spaces of a data folder: those of every kind of data.

use orrery_kv::SpaceSet;

pub static SPACES: SpaceSet = SpaceSet::new(&[
    orrery_catalog::change_log::SPECS,
    orrery_documents::spaces::SPECS,
    orrery_tables::spaces::SPECS,
    orrery_queues::spaces::SPECS,
    orrery_chunks::SPECS,
    orrery_blobs::spaces::SPECS,
]);
