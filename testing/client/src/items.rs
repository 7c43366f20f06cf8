//! The requests on one container's items.

use crate::request::{Method, Request};

/// A container, as requests name it.
#[derive(Clone, Debug)]
pub struct ContainerPath {
    pub database: String,
    pub container: String,
}

impl ContainerPath {
    pub fn new(database: impl Into<String>, container: impl Into<String>) -> Self {
        Self { database: database.into(), container: container.into() }
    }

    /// `dbs/d/colls/c/docs`.
    pub fn items(&self) -> String {
        format!("dbs/{}/colls/{}/docs", self.database, self.container)
    }

    pub fn item(&self, id: &str) -> String {
        format!("{}/{id}", self.items())
    }

    pub fn create(&self, partition: &str, body: impl Into<Vec<u8>>) -> Request {
        Request::new(Method::Post, self.items()).partition(partition).body(body)
    }

    pub fn upsert(&self, partition: &str, body: impl Into<Vec<u8>>) -> Request {
        self.create(partition, body).header("x-ms-documentdb-is-upsert", "true")
    }

    pub fn replace(
        &self,
        partition: &str,
        id: &str,
        body: impl Into<Vec<u8>>,
        if_match: Option<&str>,
    ) -> Request {
        let request = Request::new(Method::Put, self.item(id)).partition(partition).body(body);
        request.header_if("if-match", if_match)
    }

    pub fn read(&self, partition: &str, id: &str) -> Request {
        Request::new(Method::Get, self.item(id)).partition(partition)
    }

    pub fn delete(&self, partition: &str, id: &str, if_match: Option<&str>) -> Request {
        let request = Request::new(Method::Delete, self.item(id)).partition(partition);
        request.header_if("if-match", if_match)
    }

    /// One page of all items, over all partitions.
    pub fn feed(&self, page_items: usize, continuation: Option<&str>) -> Request {
        let request = Request::new(Method::Get, self.items());
        request
            .header("x-ms-max-item-count", page_items.to_string())
            .header_if("x-ms-continuation", continuation)
    }
}
