//! Throughput of a container or database, in headers and offers (wire guide §10).

use super::members::integer;
use super::members::{DefinitionError, invalid};
use crate::limits;
use serde_json::{Value, json};

/// Request units per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Throughput {
    Manual(u64),
    /// Between a tenth of `max` and `max`, depending on the load.
    Autoscale {
        max: u64,
        /// The increment by which the service may raise `max` itself; stored and shown, never acted on
        /// here.
        increment_percent: Option<u64>,
    },
}

impl Throughput {
    /// From `x-ms-offer-throughput` and `x-ms-cosmos-offer-autopilot-settings`; `None` if neither is
    /// present.
    pub fn from_headers(
        offer_throughput: Option<&str>,
        autopilot: Option<&str>,
    ) -> Result<Option<Self>, DefinitionError> {
        match (offer_throughput, autopilot) {
            (None, None) => Ok(None),
            (Some(text), None) => Self::from_manual_header(text).map(Some),
            (None, Some(text)) => Self::from_autopilot_header(text).map(Some),
            (Some(_), Some(_)) => Err(invalid(
                "The request asks for both manual and autoscale throughput. Send x-ms-offer-throughput or \
                 x-ms-cosmos-offer-autopilot-settings, not both.",
            )),
        }
    }

    /// From the `content` of an offer. If it has autoscale settings, `offerThroughput` is only the
    /// current value.
    pub fn from_offer_content(content: &Value) -> Result<Self, DefinitionError> {
        match content.get("offerAutopilotSettings").filter(|settings| !settings.is_null()) {
            Some(settings) => Self::from_settings(settings),
            None => manual(content.get("offerThroughput").and_then(integer).ok_or_else(|| {
                invalid(
                    "The content of the offer needs an integer 'offerThroughput' or \
                'offerAutopilotSettings'.",
                )
            })?),
        }
    }

    pub fn to_offer_content(&self) -> Value {
        match self {
            Self::Manual(units) => json!({
                "offerThroughput": units,
                "offerIsRUPerMinuteThroughputEnabled": false,
            }),
            Self::Autoscale { max, increment_percent } => json!({
                "offerThroughput": max / 10,
                "offerIsRUPerMinuteThroughputEnabled": false,
                "offerAutopilotSettings": settings(*max, *increment_percent),
            }),
        }
    }

    /// The maximum; autoscale scales immediately.
    pub fn most(&self) -> u64 {
        let (Self::Manual(units) | Self::Autoscale { max: units, .. }) = *self;
        units
    }

    /// The minimum after a historical maximum of `highest`: a hundredth of it, with autoscale a tenth.
    pub fn check_after(&self, highest: u64) -> Result<(), DefinitionError> {
        let (what, min, step) = match self {
            Self::Manual(_) => ("throughput", least_manual(highest), limits::THROUGHPUT_MANUAL_STEP),
            Self::Autoscale { .. } => {
                ("autoscale maximum", least_autoscale(highest), limits::THROUGHPUT_AUTOSCALE_STEP)
            }
        };
        let units = i64::try_from(self.most()).unwrap_or(i64::MAX);
        checked(what, units, min, step).map(drop)
    }

    /// Converts to autoscale, up to the current value or the smallest autoscale maximum.
    pub fn to_autoscale(&self, highest: u64) -> Self {
        let increment_percent = match *self {
            Self::Manual(_) => None,
            Self::Autoscale { increment_percent, .. } => increment_percent,
        };
        let max = self.most().max(least_autoscale(highest));
        Self::Autoscale { max: max.next_multiple_of(limits::THROUGHPUT_AUTOSCALE_STEP), increment_percent }
    }

    /// Converts to manual throughput.
    pub fn to_manual(&self, highest: u64) -> Self {
        Self::Manual(self.most().max(least_manual(highest)))
    }

    /// The number of partition key ranges needed.
    pub fn ranges(&self) -> usize {
        self.most().div_ceil(limits::THROUGHPUT_PER_RANGE).max(1) as usize
    }

    fn from_manual_header(text: &str) -> Result<Self, DefinitionError> {
        let units = text.trim().parse().map_err(|_| {
            invalid(format!(
                "The header x-ms-offer-throughput is '{text}'. Give a number of RU/s, such as 400."
            ))
        })?;
        manual(units)
    }

    fn from_autopilot_header(text: &str) -> Result<Self, DefinitionError> {
        let settings = serde_json::from_str(text).map_err(|_| {
            invalid(
                "The header x-ms-cosmos-offer-autopilot-settings is not JSON. Send {\"maxThroughput\":4000}.",
            )
        })?;
        Self::from_settings(&settings)
    }

    fn from_settings(settings: &Value) -> Result<Self, DefinitionError> {
        let max = settings.get("maxThroughput").and_then(integer).ok_or_else(|| {
            invalid("The autoscale settings need an integer 'maxThroughput'. Send {\"maxThroughput\":4000}.")
        })?;
        let (min, step) = (limits::THROUGHPUT_AUTOSCALE_MIN, limits::THROUGHPUT_AUTOSCALE_STEP);
        let increment = settings.pointer("/autoUpgradePolicy/throughputPolicy/incrementPercent");
        let max = checked("autoscale maximum", max, min, step)?;
        Ok(Self::Autoscale { max, increment_percent: increment.and_then(Value::as_u64) })
    }
}

fn least_manual(highest: u64) -> u64 {
    let hundredth = highest / limits::THROUGHPUT_MANUAL_SCALE_MAX;
    hundredth.max(limits::THROUGHPUT_MANUAL_MIN).next_multiple_of(limits::THROUGHPUT_MANUAL_STEP)
}

fn least_autoscale(highest: u64) -> u64 {
    let tenth = highest / limits::THROUGHPUT_AUTOSCALE_SCALE_MAX;
    tenth.max(limits::THROUGHPUT_AUTOSCALE_MIN).next_multiple_of(limits::THROUGHPUT_AUTOSCALE_STEP)
}

fn settings(max: u64, increment_percent: Option<u64>) -> Value {
    match increment_percent {
        None => json!({ "maxThroughput": max }),
        Some(percent) => json!({
            "maxThroughput": max,
            "autoUpgradePolicy": { "throughputPolicy": { "incrementPercent": percent } },
        }),
    }
}

fn manual(units: i64) -> Result<Throughput, DefinitionError> {
    let (min, step) = (limits::THROUGHPUT_MANUAL_MIN, limits::THROUGHPUT_MANUAL_STEP);
    checked("throughput", units, min, step).map(Throughput::Manual)
}

fn checked(what: &str, units: i64, min: u64, step: u64) -> Result<u64, DefinitionError> {
    let max = limits::THROUGHPUT_MAX;
    let valid = u64::try_from(units).ok().filter(|units| (min..=max).contains(units) && units % step == 0);
    valid.ok_or_else(|| {
        let range = format!(
            "The offer should have valid throughput values between {min} and {max} inclusive in increments of {step}"
        );
        if units < i64::try_from(min).unwrap_or(i64::MAX) {
            return invalid(format!(
                "{range}. Requested throughput {units} is less than required minimum throughput {min}."
            ));
        }
        invalid(format!("{range}. The {what} of {units} RU/s is invalid."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(manual: Option<&str>, autopilot: Option<&str>, expected: Option<Throughput>) {
        assert_eq!(Throughput::from_headers(manual, autopilot), Ok(expected));
    }

    fn refused(manual: Option<&str>, autopilot: Option<&str>, fragment: &str) {
        let error = Throughput::from_headers(manual, autopilot).unwrap_err().to_string();
        assert!(error.contains(fragment), "{manual:?} {autopilot:?}: {error}");
    }

    #[test]
    fn headers_ask_for_manual_or_autoscale_throughput() {
        check(None, None, None);
        check(Some("400"), None, Some(Throughput::Manual(400)));
        check(Some(" 1000000 "), None, Some(Throughput::Manual(1_000_000)));
        check(
            None,
            Some(r#"{"maxThroughput":4000}"#),
            Some(Throughput::Autoscale { max: 4000, increment_percent: None }),
        );
        check(
            None,
            Some(
                r#"{"maxThroughput":1000,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":10}}}"#,
            ),
            Some(Throughput::Autoscale { max: 1000, increment_percent: Some(10) }),
        );
    }

    #[test]
    fn errors_in_headers_say_what_to_send() {
        refused(Some("400"), Some(r#"{"maxThroughput":4000}"#), "not both");
        refused(
            Some("300"),
            None,
            "between 400 and 1000000 inclusive in increments of 100. Requested throughput 300 is less than required minimum throughput 400.",
        );
        refused(Some("450"), None, "increments of 100. The throughput of 450");
        refused(Some("1000100"), None, "and 1000000 inclusive");
        refused(Some("-400"), None, "Requested throughput -400 is less than required minimum throughput 400");
        refused(Some("four hundred"), None, "such as 400");
        refused(Some("400.5"), None, "such as 400");
        refused(None, Some("4000"), "maxThroughput");
        refused(None, Some("{"), "not JSON");
        refused(None, Some(r#"{"maxThroughput":"4000"}"#), "integer 'maxThroughput'");
        refused(None, Some(r#"{"maxThroughput":400}"#), "less than required minimum throughput 1000");
        refused(None, Some(r#"{"maxThroughput":1500}"#), "increments of 1000");
    }

    #[test]
    fn reading_an_offer_undoes_showing_it() {
        for throughput in
            [Throughput::Manual(400), Throughput::Autoscale { max: 4000, increment_percent: None }]
        {
            assert_eq!(Throughput::from_offer_content(&throughput.to_offer_content()), Ok(throughput));
        }
    }

    #[test]
    fn an_autoscale_offer_shows_a_tenth_as_current() {
        let content = Throughput::Autoscale { max: 4000, increment_percent: None }.to_offer_content();
        assert_eq!(content["offerThroughput"], 400);
        assert_eq!(content["offerAutopilotSettings"]["maxThroughput"], 4000);
        assert!(Throughput::Manual(400).to_offer_content().get("offerAutopilotSettings").is_none());
    }

    #[test]
    fn an_offer_without_a_usable_number_is_refused() {
        let refused = |content: Value| Throughput::from_offer_content(&content).unwrap_err().to_string();
        assert!(refused(json!({})).contains("offerThroughput"));
        assert!(refused(json!({"offerThroughput": "400"})).contains("integer"));
        assert!(refused(json!({"offerThroughput": 401})).contains("increments of 100"));
        assert!(
            refused(json!({"offerThroughput": 400, "offerAutopilotSettings": {}})).contains("maxThroughput")
        );
    }

    #[test]
    fn the_minimum_depends_on_the_historical_maximum() {
        let manual = |units, highest| Throughput::Manual(units).check_after(highest).is_ok();
        assert!(manual(400, 40_000) && manual(400, 400));
        assert!(!manual(400, 50_000) && manual(500, 50_000));
        assert!(!manual(500, 50_100) && manual(600, 50_100), "a hundredth is rounded up to the step");
        let autoscale =
            |max, highest| Throughput::Autoscale { max, increment_percent: None }.check_after(highest);
        assert!(autoscale(1000, 10_000).is_ok() && autoscale(4000, 50_000).is_err());
        let refusal = autoscale(4000, 50_000).unwrap_err().to_string();
        assert!(refusal.contains("less than required minimum throughput 5000"), "{refusal}");
    }

    #[test]
    fn manual_becomes_autoscale_and_back_within_the_rules() {
        let autoscale = |max| Throughput::Autoscale { max, increment_percent: None };
        assert_eq!(Throughput::Manual(400).to_autoscale(400), autoscale(1000));
        assert_eq!(Throughput::Manual(4100).to_autoscale(4100), autoscale(5000));
        assert_eq!(Throughput::Manual(400).to_autoscale(40_000), autoscale(4000));
        assert_eq!(autoscale(4000).to_manual(4000), Throughput::Manual(4000));
        assert_eq!(autoscale(1000).to_manual(300_000), Throughput::Manual(3000));
    }

    #[test]
    fn each_range_carries_its_share() {
        let check = |units, ranges| {
            assert_eq!(Throughput::Manual(units).ranges(), ranges, "{units}");
            let autoscale = Throughput::Autoscale { max: units, increment_percent: None };
            assert_eq!(autoscale.ranges(), ranges, "{units} autoscale");
        };
        check(400, 1);
        check(6000, 1);
        check(6100, 2);
        check(12_000, 2);
        check(30_000, 5);
    }
}
