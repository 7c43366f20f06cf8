//! The prices, from `data/prices.toml`.

use orrery_protocol::cost::Scenario;
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    pub serverless_per_million_units: f64,
    pub manual_per_100_units_hour: f64,
    pub autoscale_per_100_units_hour: f64,
    pub storage_per_gb_month: f64,
    #[serde(rename = "scenario")]
    pub scenarios: Vec<Scenario>,
}

impl Prices {
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
