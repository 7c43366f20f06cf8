//! What service properties have of blobs alone: the retention of what is deleted, and the static website (wire guide §4.6).

use crate::errors::Failure;
use orrery_api_storage::StorageError;
use orrery_api_storage::xml::{self, Element, Writer};
use orrery_blob_store::model::settings::{BlobSettings, Days, DeleteRetention, StaticWebsite};

/// The settings after this body; what it leaves out stays as it is.
pub fn read(body: &[u8], current: &BlobSettings) -> Result<BlobSettings, Failure> {
    let root = xml::read(body)?;
    let mut settings = current.clone();
    if let Some(policy) = root.child("DeleteRetentionPolicy") {
        settings.delete_retention = retention(policy)?;
    }
    if let Some(website) = root.child("StaticWebsite") {
        settings.static_website = static_website(website)?;
    }
    Ok(settings)
}

fn retention(policy: &Element) -> Result<Option<DeleteRetention>, Failure> {
    policy.only(&["Enabled", "Days", "AllowPermanentDelete"])?;
    if !is_on(policy, "Enabled") {
        return Ok(None);
    }
    let text = policy.required("Days")?;
    let days = text.trim().parse().ok().and_then(|days| Days::new(days).ok());
    let refused = || StorageError::invalid_xml_value("Days", text, "A retention lasts 1 to 365 days.");
    let days = days.ok_or_else(refused)?;
    Ok(Some(DeleteRetention { days, allow_permanent_delete: is_on(policy, "AllowPermanentDelete") }))
}

fn static_website(website: &Element) -> Result<Option<StaticWebsite>, Failure> {
    website.only(&["Enabled", "IndexDocument", "ErrorDocument404Path", "DefaultIndexDocumentPath"])?;
    if !is_on(website, "Enabled") {
        return Ok(None);
    }
    let text =
        |name: &str| website.text_of(name).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    Ok(Some(StaticWebsite {
        index_document: text("IndexDocument"),
        error_document_404_path: text("ErrorDocument404Path"),
        default_index_document_path: text("DefaultIndexDocumentPath"),
    }))
}

fn is_on(element: &Element, name: &str) -> bool {
    element.text_of(name).is_some_and(|text| text.trim().eq_ignore_ascii_case("true"))
}

pub fn write(root: &mut Writer, settings: &BlobSettings) {
    root.element("DeleteRetentionPolicy", |policy| {
        policy.text("Enabled", &settings.delete_retention.is_some().to_string());
        if let Some(retention) = settings.delete_retention {
            policy.text("Days", &retention.days.get().to_string());
            policy.text("AllowPermanentDelete", &retention.allow_permanent_delete.to_string());
        }
    });
    root.element("StaticWebsite", |website| {
        website.text("Enabled", &settings.static_website.is_some().to_string());
        let Some(given) = &settings.static_website else { return };
        let documents = [
            ("IndexDocument", &given.index_document),
            ("ErrorDocument404Path", &given.error_document_404_path),
            ("DefaultIndexDocumentPath", &given.default_index_document_path),
        ];
        for (name, text) in documents {
            if let Some(text) = text {
                website.text(name, text);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(inside: &str, current: &BlobSettings) -> Result<BlobSettings, &'static str> {
        let body = format!("<StorageServiceProperties>{inside}</StorageServiceProperties>");
        read(body.as_bytes(), current).map_err(|Failure(error)| error.code)
    }

    #[test]
    fn what_is_left_out_stays_and_what_is_off_is_gone() {
        let retention =
            "<DeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days></DeleteRetentionPolicy>";
        let kept = of(retention, &BlobSettings::default()).expect("settings");
        assert_eq!(kept.delete_retention.map(|kept| kept.days.get()), Some(7));
        let website =
            "<StaticWebsite><Enabled>true</Enabled><IndexDocument>index.html</IndexDocument></StaticWebsite>";
        let both = of(website, &kept).expect("settings");
        assert_eq!(both.delete_retention, kept.delete_retention);
        let document = both.static_website.as_ref().and_then(|site| site.index_document.as_deref());
        assert_eq!(document, Some("index.html"));
        let off = "<DeleteRetentionPolicy><Enabled>false</Enabled></DeleteRetentionPolicy>";
        assert_eq!(of(off, &both).map(|settings| settings.delete_retention), Ok(None));
        let long = "<DeleteRetentionPolicy><Enabled>true</Enabled><Days>366</Days></DeleteRetentionPolicy>";
        assert_eq!(of(long, &both), Err("InvalidXmlNodeValue"));
    }
}
