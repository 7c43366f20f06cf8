//! The response of `/v1/cost`: a month's metered usage, and its price in each mode.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bill {
    pub month: String,
    /// Hours of the month, and those in which the server ran.
    pub hours: u32,
    pub hours_measured: u32,
    pub lines: Vec<Line>,
    pub total: Costs,
    /// The total extrapolated from the measured hours to the whole month.
    pub projected: Costs,
    /// Whether hours are missing, so that `projected` is an extrapolation.
    pub is_extrapolated: bool,
    /// Owners dropped meanwhile; included in neither sum.
    pub dropped: Vec<Line>,
    /// Tables and queues, which have one price each.
    #[serde(default)]
    pub storage: StorageBill,
    pub scenarios: Vec<Scenario>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub database: String,
    /// `None` for a database whose containers share its throughput.
    pub container: Option<String>,
    pub requests: u64,
    pub request_units: f64,
    pub peak_units_per_second: f64,
    pub gigabytes: f64,
    /// The current mode, and the basis of the other two prices.
    pub mode: Mode,
    pub manual_units: u64,
    pub autoscale_units_max: u64,
    pub costs: Costs,
    pub cheapest: Mode,
}

/// In dollars.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// `None` if serverless would have throttled requests.
    pub serverless: Option<f64>,
    pub manual: f64,
    pub autoscale: f64,
    pub storage: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    #[default]
    Serverless,
    Manual,
    Autoscale,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Serverless => "serverless",
            Self::Manual => "manual",
            Self::Autoscale => "autoscale",
        }
    }
}

impl Default for Costs {
    fn default() -> Self {
        Self { serverless: Some(0.0), manual: 0.0, autoscale: 0.0, storage: 0.0 }
    }
}

/// A row of the comparison in the example blueprint `agent-studio`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    pub workflows_a_day: u64,
    pub serverless: String,
    pub provisioned_400: String,
    pub provisioned_4000: String,
}

impl Costs {
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            // An account is serverless as a whole.
            serverless: self.serverless.zip(other.serverless).map(|(a, b)| a + b),
            manual: self.manual + other.manual,
            autoscale: self.autoscale + other.autoscale,
            storage: self.storage + other.storage,
        }
    }

    pub fn times(&self, by: f64) -> Self {
        Self {
            serverless: self.serverless.map(|serverless| serverless * by),
            manual: self.manual * by,
            autoscale: self.autoscale * by,
            storage: self.storage * by,
        }
    }

    pub fn cheapest(&self) -> Mode {
        let serverless = self.serverless.map(|cost| (cost, Mode::Serverless));
        let modes = [(self.manual, Mode::Manual), (self.autoscale, Mode::Autoscale)];
        let least = serverless.into_iter().chain(modes).min_by(|a, b| a.0.total_cmp(&b.0));
        least.map_or(Mode::Manual, |(_, mode)| mode)
    }
}

/// The part of a bill for storage accounts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StorageBill {
    pub lines: Vec<StorageLine>,
    pub total: StorageCosts,
    /// The total extrapolated as that of the whole bill.
    pub projected: StorageCosts,
    /// Resources deleted meanwhile; included in neither sum.
    pub dropped: Vec<StorageLine>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StorageLine {
    /// `table` or `queue`.
    pub service: String,
    pub account: String,
    pub name: String,
    pub transactions: u64,
    pub reads: u64,
    pub writes: u64,
    pub queries: u64,
    pub deletes: u64,
    pub gigabytes: f64,
    pub costs: StorageCosts,
}

/// In dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StorageCosts {
    pub transactions: f64,
    pub capacity: f64,
}

impl StorageCosts {
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            transactions: self.transactions + other.transactions,
            capacity: self.capacity + other.capacity,
        }
    }

    pub fn times(&self, by: f64) -> Self {
        Self { transactions: self.transactions * by, capacity: self.capacity * by }
    }

    pub fn sum(&self) -> f64 {
        self.transactions + self.capacity
    }
}
