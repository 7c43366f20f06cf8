//! The static website of an account: documents of the container `$web`, without a key (wire guide §4.6).
//!
//! In Azure a website has a host of its own, `account.z6.web.core.windows.net`. Here it is `account.web.localhost` on the
//! blob port, or any host whose second label is `web`.

use crate::answer::Answer;
use crate::call::Call;
use crate::errors::Failure;
use crate::handlers::read;
use crate::service::Blobs;
use http::{Method, Response, StatusCode};
use orrery_api_common::percent::decode_segment;
use orrery_blob_store::Error;
use orrery_blob_store::model::Refusal;
use orrery_blob_store::model::settings::StaticWebsite;

const WEB: &str = "$web";

/// The answer, if this is a request of a website.
pub async fn answer(blobs: &Blobs, call: &mut Call) -> Result<Option<Response<Answer>>, Failure> {
    if !call.request.is_of_website || !matches!(*call.request.method(), Method::GET | Method::HEAD) {
        return Ok(None);
    }
    let service = blobs.store.service(&call.request.account)?;
    let Some(website) = &service.settings.static_website else {
        return Err(Refusal::BlobNotFound.into());
    };
    let path = decode_segment(&call.request.raw_path)
        .map_err(|_| orrery_api_storage::StorageError::invalid_uri())?
        .into_owned();
    for name in candidates(website, &path) {
        match document(blobs, call, &name).await {
            Err(Failure(error)) if error.status == StatusCode::NOT_FOUND => {}
            answered => return answered.map(Some),
        }
    }
    if let Some(name) = &website.error_document_404_path {
        let mut response = document(blobs, call, name).await?;
        *response.status_mut() = StatusCode::NOT_FOUND;
        return Ok(Some(response));
    }
    Err(Error::Refused(Refusal::BlobNotFound).into())
}

/// The documents that may answer a path, the first that is there.
fn candidates(website: &StaticWebsite, path: &str) -> Vec<String> {
    let mut names = Vec::new();
    if !path.is_empty() && !path.ends_with('/') {
        names.push(path.to_owned());
    }
    let directory = path.trim_end_matches('/');
    if let Some(index) = &website.index_document {
        names.push(if directory.is_empty() { index.clone() } else { format!("{directory}/{index}") });
    }
    names.extend(website.default_index_document_path.clone());
    names
}

async fn document(blobs: &Blobs, call: &mut Call, name: &str) -> Result<Response<Answer>, Failure> {
    let address = call.blob(WEB, name)?;
    match *call.request.method() {
        Method::HEAD => read::properties(blobs, call, &address),
        _ => read::get(blobs, call, &address).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_its_index() {
        let website = StaticWebsite { index_document: Some("index.html".into()), ..StaticWebsite::default() };
        assert_eq!(candidates(&website, ""), ["index.html"]);
        assert_eq!(candidates(&website, "docs/"), ["docs/index.html"]);
        assert_eq!(candidates(&website, "docs"), ["docs", "docs/index.html"]);
        let fallback = StaticWebsite {
            default_index_document_path: Some("app.html".into()),
            ..StaticWebsite::default()
        };
        assert_eq!(candidates(&fallback, "a/b"), ["a/b", "app.html"]);
    }
}
