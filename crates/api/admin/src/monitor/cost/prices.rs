//! The prices, from `data/prices.toml`.

use orrery_catalog::storage::ServiceKind;
use orrery_catalog::storage::metering::OperationClass;
use orrery_protocol::cost::Scenario;
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    pub serverless_per_million_units: f64,
    pub manual_per_100_units_hour: f64,
    pub autoscale_per_100_units_hour: f64,
    pub storage_per_gb_month: f64,
    pub table: StoragePrices,
    pub queue: StoragePrices,
    #[serde(rename = "scenario")]
    pub scenarios: Vec<Scenario>,
}

/// What a service of storage accounts charges.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoragePrices {
    pub capacity_per_gb_month: f64,
    pub read_per_10000: f64,
    pub write_per_10000: f64,
    pub query_per_10000: f64,
    pub delete_per_10000: f64,
}

impl StoragePrices {
    pub fn per_10000(&self, class: OperationClass) -> f64 {
        match class {
            OperationClass::Read => self.read_per_10000,
            OperationClass::Write => self.write_per_10000,
            OperationClass::Query => self.query_per_10000,
            OperationClass::Delete => self.delete_per_10000,
        }
    }
}

impl Prices {
    /// Blobs are not stored yet, so there is nothing to charge for.
    pub fn of_service(&self, service: ServiceKind) -> Option<&StoragePrices> {
        match service {
            ServiceKind::Table => Some(&self.table),
            ServiceKind::Queue => Some(&self.queue),
            ServiceKind::Blob => None,
        }
    }

    pub fn load() -> Result<Self, String> {
        toml::from_str(include_str!("../../../data/prices.toml"))
            .map_err(|error| format!("data/prices.toml is not understood: {}", error.message()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S1-48, S1-49: the design's table follows from its prices, to the rounding that it does.
    #[test]
    fn the_fixed_costs_of_the_comparison_follow_from_its_prices() {
        let prices = Prices::load().expect("prices");
        let month = |units: f64| units / 100.0 * prices.manual_per_100_units_hour * 744.0;
        assert_eq!((month(400.0).ceil(), month(4000.0).ceil()), (24.0, 239.0));
        assert_eq!(prices.serverless_per_million_units * 60.0, 15.0, "the first row is 60 million units");
        assert_eq!(prices.scenarios.len(), 3);
    }
}
