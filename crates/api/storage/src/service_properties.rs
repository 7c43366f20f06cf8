//! The properties of a service as XML: `<StorageServiceProperties>` (wire guide §4.6).
//!
//! An element that a client leaves out leaves that setting as it is, so reading begins with the settings of now.

use crate::error::StorageError;
use crate::version::Version;
use crate::xml::{self, Element, Writer};
use bytes::Bytes;
use orrery_catalog::storage::{
    CorsRule, InvalidProperties, Logging, Metrics, Retention, ServiceKind, ServiceProperties,
};

const METHODS: [&str; 10] =
    ["CONNECT", "DELETE", "GET", "HEAD", "MERGE", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"];

/// What the properties are after this body.
pub fn read(
    service: ServiceKind,
    body: &[u8],
    current: &ServiceProperties,
) -> Result<ServiceProperties, StorageError> {
    let root = xml::read(body)?;
    root.named("StorageServiceProperties")?;
    root.only(&[
        "Logging",
        "HourMetrics",
        "MinuteMetrics",
        "Cors",
        "DefaultServiceVersion",
        "DeleteRetentionPolicy",
        "StaticWebsite",
    ])?;
    let mut properties = current.clone();
    for child in &root.children {
        match child.name.as_str() {
            "Logging" => properties.logging = logging(child)?,
            "HourMetrics" => properties.hour_metrics = metrics(child)?,
            "MinuteMetrics" => properties.minute_metrics = metrics(child)?,
            "Cors" => properties.cors = child.children.iter().map(cors_rule).collect::<Result<_, _>>()?,
            _ if service != ServiceKind::Blob => {
                let sentence = format!("the element '{}' is of the blob service alone", child.name);
                return Err(StorageError::invalid_xml(sentence));
            }
            "DefaultServiceVersion" => properties.default_service_version = default_version(child)?,
            // What only blobs have is read beside this, by their protocol.
            _ => {}
        }
    }
    properties.check().map_err(invalid)?;
    Ok(properties)
}

pub fn write(properties: &ServiceProperties) -> Bytes {
    write_with(properties, |_| ())
}

/// The same, with what `of_service` writes behind: the settings of blobs.
pub fn write_with(properties: &ServiceProperties, of_service: impl FnOnce(&mut Writer)) -> Bytes {
    let mut writer = Writer::new();
    writer.element("StorageServiceProperties", |root| {
        root.element("Logging", |inside| write_logging(inside, &properties.logging));
        root.element("HourMetrics", |inside| write_metrics(inside, &properties.hour_metrics));
        root.element("MinuteMetrics", |inside| write_metrics(inside, &properties.minute_metrics));
        root.element("Cors", |list| {
            for rule in &properties.cors {
                list.element("CorsRule", |inside| write_cors_rule(inside, rule));
            }
        });
        if let Some(version) = &properties.default_service_version {
            root.text("DefaultServiceVersion", version);
        }
        of_service(root);
    });
    writer.finish()
}

fn write_logging(writer: &mut Writer, logging: &Logging) {
    writer.text("Version", &logging.version);
    for (name, is_on) in [("Delete", logging.delete), ("Read", logging.read), ("Write", logging.write)] {
        writer.text(name, &is_on.to_string());
    }
    write_retention(writer, logging.retention);
}

fn write_metrics(writer: &mut Writer, metrics: &Metrics) {
    writer.text("Version", &metrics.version);
    writer.text("Enabled", &metrics.enabled.to_string());
    if let Some(is_on) = metrics.include_apis {
        writer.text("IncludeAPIs", &is_on.to_string());
    }
    write_retention(writer, metrics.retention);
}

fn write_retention(writer: &mut Writer, retention: Retention) {
    writer.element("RetentionPolicy", |inside| {
        inside.text("Enabled", &retention.days.is_some().to_string());
        if let Some(days) = retention.days {
            inside.text("Days", &days.to_string());
        }
    });
}

fn write_cors_rule(writer: &mut Writer, rule: &CorsRule) {
    for (name, list) in [
        ("AllowedOrigins", &rule.allowed_origins),
        ("AllowedMethods", &rule.allowed_methods),
        ("AllowedHeaders", &rule.allowed_headers),
        ("ExposedHeaders", &rule.exposed_headers),
    ] {
        writer.text(name, &list.join(","));
    }
    writer.text("MaxAgeInSeconds", &rule.max_age_seconds.to_string());
}

fn logging(element: &Element) -> Result<Logging, StorageError> {
    element.only(&["Version", "Delete", "Read", "Write", "RetentionPolicy"])?;
    Ok(Logging {
        version: element.required("Version")?.to_owned(),
        delete: flag(element, "Delete")?,
        read: flag(element, "Read")?,
        write: flag(element, "Write")?,
        retention: retention(element)?,
    })
}

fn metrics(element: &Element) -> Result<Metrics, StorageError> {
    element.only(&["Version", "Enabled", "IncludeAPIs", "RetentionPolicy"])?;
    Ok(Metrics {
        version: element.text_of("Version").unwrap_or("1.0").to_owned(),
        enabled: flag(element, "Enabled")?,
        include_apis: element.child("IncludeAPIs").map(|_| flag(element, "IncludeAPIs")).transpose()?,
        retention: retention(element)?,
    })
}

fn retention(element: &Element) -> Result<Retention, StorageError> {
    let Some(policy) = element.child("RetentionPolicy") else { return Ok(Retention::default()) };
    policy.only(&["Enabled", "Days"])?;
    if !flag(policy, "Enabled")? {
        return Ok(Retention::default());
    }
    number(policy, "Days").map(|days| Retention { days: Some(days) })
}

fn cors_rule(element: &Element) -> Result<CorsRule, StorageError> {
    element.named("CorsRule")?;
    element.only(&[
        "AllowedOrigins",
        "AllowedMethods",
        "AllowedHeaders",
        "ExposedHeaders",
        "MaxAgeInSeconds",
    ])?;
    let rule = CorsRule {
        allowed_origins: list(element, "AllowedOrigins"),
        allowed_methods: list(element, "AllowedMethods"),
        allowed_headers: list(element, "AllowedHeaders"),
        exposed_headers: list(element, "ExposedHeaders"),
        max_age_seconds: number(element, "MaxAgeInSeconds")?,
    };
    let unknown = rule.allowed_methods.iter().find(|method| !METHODS.contains(&method.as_str()));
    if let Some(method) = unknown {
        let reason = format!("Methods are {}.", METHODS.join(", "));
        return Err(StorageError::invalid_xml_value("AllowedMethods", method, reason));
    }
    Ok(rule)
}

/// What stands between commas.
fn list(element: &Element, name: &str) -> Vec<String> {
    let text = element.text_of(name).unwrap_or_default();
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

fn flag(element: &Element, name: &str) -> Result<bool, StorageError> {
    let text = element.required(name)?.trim();
    let known = [("true", true), ("1", true), ("false", false), ("0", false)];
    let found = known.iter().find(|(word, _)| text.eq_ignore_ascii_case(word));
    let refused = || StorageError::invalid_xml_value(name, text, "It is neither true nor false.");
    found.map(|(_, is_on)| *is_on).ok_or_else(refused)
}

fn number<N: std::str::FromStr>(element: &Element, name: &str) -> Result<N, StorageError> {
    let text = element.required(name)?.trim();
    text.parse().map_err(|_| StorageError::invalid_xml_value(name, text, "It is no such number."))
}

fn default_version(element: &Element) -> Result<Option<String>, StorageError> {
    let text = element.text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let refused =
        || StorageError::invalid_xml_value(&element.name, text, "It is no version, which is a date.");
    Version::parse(text).map(|version| Some(version.to_string())).ok_or_else(refused)
}

fn invalid(error: InvalidProperties) -> StorageError {
    match error {
        InvalidProperties::CorsRules | InvalidProperties::CorsRuleEmpty | InvalidProperties::IncludeApis => {
            StorageError::invalid_xml(error.to_string())
        }
        InvalidProperties::RetentionDays => StorageError::invalid_xml_value("Days", "", error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "<CorsRule><AllowedOrigins>http://a, http://b:3000</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods>\
        <AllowedHeaders>x-ms-*</AllowedHeaders><ExposedHeaders/><MaxAgeInSeconds>60</MaxAgeInSeconds></CorsRule>";

    fn read_of(inside: &str, current: &ServiceProperties) -> Result<ServiceProperties, &'static str> {
        let body = format!("<StorageServiceProperties>{inside}</StorageServiceProperties>");
        let read = read(ServiceKind::Queue, body.as_bytes(), current).map_err(|error| error.code)?;
        let again = super::read(ServiceKind::Queue, &write(&read), &ServiceProperties::default());
        assert_eq!(again, Ok(read.clone()), "what is written is read back");
        Ok(read)
    }

    #[test]
    fn what_is_left_out_stays_as_it_is() {
        let first =
            read_of(&format!("<Cors>{RULE}</Cors>"), &ServiceProperties::default()).expect("properties");
        assert_eq!(first.cors[0].allowed_origins, ["http://a", "http://b:3000"]);
        let metrics = "<HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>false</IncludeAPIs>\
            <RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></HourMetrics>";
        let second = read_of(metrics, &first).expect("properties");
        assert_eq!((&second.cors, second.hour_metrics.retention.days), (&first.cors, Some(7)));
        assert_eq!(read_of("", &second), Ok(second.clone()));
        assert_eq!(read_of("<Cors/>", &second).map(|properties| properties.cors), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        let check = |inside: &str, code: &'static str| {
            assert_eq!(read_of(inside, &ServiceProperties::default()), Err(code), "{inside}");
        };
        check("<Other/>", "InvalidXmlDocument");
        check("<Logging/>", "InvalidXmlDocument");
        check("<Cors/><Cors/>", "InvalidXmlDocument");
        check("<Cors><Rule/></Cors>", "InvalidXmlDocument");
        check(&format!("<Cors>{}</Cors>", RULE.repeat(6)), "InvalidXmlDocument");
        check(&format!("<Cors>{}</Cors>", RULE.replace("GET", "LOOK")), "InvalidXmlNodeValue");
        check(&format!("<Cors>{}</Cors>", RULE.replace("60", "-1")), "InvalidXmlNodeValue");
        check("<HourMetrics><Enabled>maybe</Enabled></HourMetrics>", "InvalidXmlNodeValue");
        check("<HourMetrics><Enabled>true</Enabled></HourMetrics>", "InvalidXmlDocument");
        check("<DefaultServiceVersion>2026-10-06</DefaultServiceVersion>", "InvalidXmlDocument");
    }

    #[test]
    fn blobs_have_a_default_version() {
        let check = |inside: &str| {
            let body = format!("<StorageServiceProperties>{inside}</StorageServiceProperties>");
            let read = read(ServiceKind::Blob, body.as_bytes(), &ServiceProperties::default());
            read.map(|properties| properties.default_service_version).map_err(|error| error.code)
        };
        let version = |text: &str| format!("<DefaultServiceVersion>{text}</DefaultServiceVersion>");
        assert_eq!(check(&version("2026-10-06")), Ok(Some("2026-10-06".to_owned())));
        assert_eq!(check(&version("soon")), Err("InvalidXmlNodeValue"));
    }
}
