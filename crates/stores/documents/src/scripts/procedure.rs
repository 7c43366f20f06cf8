//! Executing a stored procedure (wire guide §19).

use super::partition::{Partition, Script};
use crate::error::Error;
use crate::items::Refused;
use crate::metering::Charged;
use crate::store::Store;
use crate::throttle::Priority;
use orrery_core::Lsn;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::FeedScope;
use orrery_documents::subresources::{self, Kind, Owner, SubresourceError};
use orrery_keys::Epk;
use orrery_kv::Txn;
use orrery_script::{Call, Ended};
use std::sync::Arc;

#[derive(Debug)]
pub struct ProcedureCall {
    /// The procedure's name.
    pub id: String,
    /// The partition in which it runs.
    pub epk: Epk,
    /// A JSON array.
    pub arguments: Arc<str>,
    /// The request's headers as the script sees them: a JSON object.
    pub headers: String,
    pub priority: Priority,
}

#[derive(Debug)]
pub struct ProcedureOutcome {
    pub container: Arc<Container>,
    /// What the procedure set as its response.
    pub body: Option<String>,
    pub log: String,
    pub charge: Charge,
    /// Schema violations of the items written.
    pub warnings: u64,
    pub lsn: Lsn,
}

impl Charged for ProcedureOutcome {
    fn charge(&self) -> Charge {
        self.charge
    }
}

impl Store {
    /// Runs a stored procedure in one transaction.
    pub async fn execute_procedure(
        &self,
        container: &Arc<Container>,
        call: &ProcedureCall,
    ) -> Result<ProcedureOutcome, Refused> {
        let scope = FeedScope::Partition(call.epk.clone());
        let run = self.with_container(container, |container| self.try_procedure(container, call));
        self.metered(container, Some(&scope), call.priority, run).await
    }

    async fn try_procedure(
        &self,
        container: Arc<Container>,
        call: &ProcedureCall,
    ) -> Result<ProcedureOutcome, Refused> {
        let owner = Owner::Container(container.rid());
        let found = subresources::find(&*self.snapshot(), &owner, Kind::StoredProcedure, &call.id);
        let found = found.map_err(Error::Engine)?;
        let missing = Error::Subresource(SubresourceError::Missing(Kind::StoredProcedure.noun()));
        let found = found.ok_or(missing)?;
        let script = Script { name: found.name.to_string(), body: found.script().to_owned() };
        let body = {
            let (store, container, epk) = (self.clone(), container.clone(), call.epk.clone());
            let (headers, arguments) = (call.headers.clone(), call.arguments.clone());
            move |txn: &mut Txn<'_>| {
                let mut partition = Partition::new(&store, &container, &epk, txn);
                let ended = partition.run(&script, Call::Procedure { arguments: &arguments }, &headers)?;
                Ok((ended, partition.charge, partition.warnings))
            }
        };
        let written = self.run_script(&container, &call.epk, body).await;
        let written = written.map_err(|refused| refused.at(&call.epk))?;
        self.usage().touched(container.number(), call.epk.as_bytes());
        let (Ended { body, log }, charge, warnings) = written.value;
        // Calling a script costs as much as reading its definition.
        let charge = [Charge::point_read(0), charge].into_iter().sum();
        Ok(ProcedureOutcome { container, body, log, charge, warnings, lsn: written.lsn })
    }
}
