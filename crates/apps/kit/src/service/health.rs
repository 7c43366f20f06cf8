//! Measurements of a service, in no format yet.

/// One number for `/metrics` and OpenTelemetry.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// As OpenTelemetry spells it, with dots; begins with the service's name.
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
    /// It only grows while the process lives.
    Counter,
    Gauge,
}
