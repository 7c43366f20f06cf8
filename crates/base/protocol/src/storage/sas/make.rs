//! Tokens: fields with a signature, as the query of a URL.

use super::{Fields, SignedRequest, layout};
use crate::Key;

/// Each takes everything but `sig` from the fields, and gives the query that follows a URL's `?`.
impl Fields {
    pub fn account_token(self, account: &str, key: &Key) -> String {
        let text = layout::account(account, &self);
        self.signed(key, &text)
    }

    pub fn queue_token(self, account: &str, queue: &str, key: &Key) -> String {
        let text = layout::queue(account, queue, &self);
        self.signed(key, &text)
    }

    /// Of the table in `tn`.
    pub fn table_token(self, account: &str, key: &Key) -> String {
        let text = layout::table(account, &self);
        self.signed(key, &text)
    }

    /// Of `container` or `container/blob`, as `sr` says.
    pub fn blob_token(self, account: &str, path: &str, moment: &str, key: &Key) -> String {
        let text = layout::blob(account, path, moment, &self);
        self.signed(key, &text)
    }

    /// With the key of a user, which the `sk` fields describe.
    pub fn delegation_queue_token(self, account: &str, queue: &str, key: &Key) -> String {
        let text = layout::delegation_queue(account, queue, &self);
        self.signed(key, &text)
    }

    pub fn delegation_blob_token(
        self,
        account: &str,
        path: &str,
        moment: &str,
        request: &SignedRequest,
        key: &Key,
    ) -> String {
        let text = layout::delegation_blob(account, path, moment, request, &self);
        self.signed(key, &text)
    }

    fn signed(mut self, key: &Key, text: &str) -> String {
        self.sig = Some(key.sign(text));
        self.to_query()
    }
}
