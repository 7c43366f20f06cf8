//! Several items at once, each by its id and partition, from one snapshot.
//!
//! The wire has no such request: an SDK that offers one sends a point read for a single item, and otherwise an ordinary
//! query with a condition per item (wire guide §16.1), which [`Store::query`] answers. This operation is for callers in
//! the process, which need neither.

use crate::error::Error;
use crate::limits;
use crate::metering::Charged;
use crate::scheduler::on_a_thread;
use crate::store::Store;
use crate::throttle::Priority;
use orrery_core::{Lsn, Timestamp};
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::{self, FeedScope, ItemRow, Target};
use orrery_kv::Read;
use std::sync::Arc;

/// The items that exist, in the order of the request.
#[derive(Debug)]
pub struct FoundMany {
    pub items: Vec<ItemRow>,
    /// That of as many point reads, the missing items included.
    pub charge: Charge,
    /// The state that all of them were read from.
    pub lsn: Lsn,
}

impl Charged for FoundMany {
    fn charge(&self) -> Charge {
        self.charge
    }
}

impl Store {
    /// Reads up to [`limits::READ_MANY_ITEMS_MAX`] items, of any partitions; missing ones are left out.
    pub async fn read_many(
        &self,
        container: &Arc<Container>,
        targets: Vec<Target>,
        priority: Priority,
    ) -> Result<FoundMany, Error> {
        if targets.len() > limits::READ_MANY_ITEMS_MAX {
            let max = limits::READ_MANY_ITEMS_MAX;
            return Err(Error::Invalid(format!(
                "At most {max} items are read at once; ask in several requests."
            )));
        }
        let scope = common_partition(&targets).cloned().map(FeedScope::Partition);
        let read = async {
            for target in &targets {
                self.usage().touched(container.number(), target.epk.as_bytes());
            }
            let (snapshot, container, now) = (self.snapshot(), container.clone(), self.env().now());
            let lsn = snapshot.lsn();
            let read = move || point_reads(&*snapshot, &container, &targets, now);
            let (items, charge) = on_a_thread(read).await??;
            Ok::<_, Error>(FoundMany { items, charge, lsn })
        };
        self.metered(container, scope.as_ref(), priority, read).await
    }
}

/// The partition that all items are in. Without one, the read draws from all ranges, as the SDKs' query does.
fn common_partition(targets: &[Target]) -> Option<&orrery_keys::Epk> {
    let first = &targets.first()?.epk;
    targets.iter().all(|target| target.epk == *first).then_some(first)
}

fn point_reads(
    snapshot: &dyn Read,
    container: &Container,
    targets: &[Target],
    now: Timestamp,
) -> Result<(Vec<ItemRow>, Charge), Error> {
    let (mut items, mut charges, mut bytes) = (Vec::new(), Vec::with_capacity(targets.len()), 0);
    for target in targets {
        let Some(item) = item::read(snapshot, container, target, now)? else {
            charges.push(Charge::refused());
            continue;
        };
        charges.push(Charge::point_read(item.text_length()));
        bytes += item.text_length();
        if bytes > limits::READ_MANY_BYTES_MAX {
            let mb_max = limits::READ_MANY_BYTES_MAX >> 20;
            return Err(Error::Invalid(format!(
                "The items come to more than {mb_max} MB; ask for fewer at once."
            )));
        }
        items.push(item);
    }
    Ok((items, charges.into_iter().sum()))
}
