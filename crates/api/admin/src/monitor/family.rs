//! Measurements independent of their format; `prometheus` and `otlp` encode them.

use orrery_document_store::monitor::Histogram;
use orrery_kit::service::{Measure, MeasureKind, MeasureUnit};

/// Measurements of one name.
#[derive(Debug)]
pub struct Family {
    /// As OpenTelemetry spells it, with dots.
    pub name: String,
    pub help: &'static str,
    pub unit: Unit,
    pub values: Values,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    None,
    Milliseconds,
    Bytes,
    Seconds,
}

#[derive(Debug)]
pub enum Values {
    /// A counter, which only grows while the process lives.
    Counter(Vec<(Labels, f64)>),
    Gauge(Vec<(Labels, f64)>),
    Histogram(Vec<(Labels, Histogram)>),
}

/// Labels, in output order.
pub type Labels = Vec<(&'static str, String)>;

impl Family {
    pub fn counter(name: &str, help: &'static str, values: Vec<(Labels, f64)>) -> Self {
        Self { name: name.to_owned(), help, unit: Unit::None, values: Values::Counter(values) }
    }

    pub fn gauge(name: &str, help: &'static str, unit: Unit, values: Vec<(Labels, f64)>) -> Self {
        Self { name: name.to_owned(), help, unit, values: Values::Gauge(values) }
    }

    pub fn is_empty(&self) -> bool {
        match &self.values {
            Values::Counter(values) | Values::Gauge(values) => values.is_empty(),
            Values::Histogram(values) => values.is_empty(),
        }
    }
}

/// The measurements of a service, one value per name.
impl From<Measure> for Family {
    fn from(measure: Measure) -> Self {
        let values = vec![(Vec::new(), measure.value)];
        let values = match measure.kind {
            MeasureKind::Counter => Values::Counter(values),
            MeasureKind::Gauge => Values::Gauge(values),
        };
        let unit = match measure.unit {
            MeasureUnit::None => Unit::None,
            MeasureUnit::Milliseconds => Unit::Milliseconds,
            MeasureUnit::Bytes => Unit::Bytes,
        };
        Self { name: measure.name.to_owned(), help: measure.help, unit, values }
    }
}
