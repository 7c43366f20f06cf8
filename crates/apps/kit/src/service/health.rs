//! Metrics of a service, independent of any format.

/// One value for `/metrics` and OpenTelemetry.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Dotted, as in OpenTelemetry, beginning with the service's name.
    pub name: &'static str,
    pub help: &'static str,
    pub unit: MeasureUnit,
    pub kind: MeasureKind,
    pub value: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureUnit {
    None,
    Milliseconds,
    Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureKind {
    /// Monotonic for the lifetime of the process.
    Counter,
    Gauge,
}
