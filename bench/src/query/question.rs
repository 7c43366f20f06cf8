//! The questions, in both languages.

/// Something to ask about all items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    Filter,
    Aggregate,
    Group,
    Order,
    Join,
}

impl Question {
    pub const ALL: [Self; 5] = [Self::Filter, Self::Aggregate, Self::Group, Self::Order, Self::Join];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Filter => "query-filter",
            Self::Aggregate => "query-aggregate",
            Self::Group => "query-group",
            Self::Order => "query-order",
            Self::Join => "query-join",
        }
    }

    /// What the server is asked.
    pub const fn cosmos(self) -> &'static str {
        match self {
            Self::Filter => r#"SELECT VALUE c.id FROM c WHERE c.status = "FAILED" AND c.retryCount < 3"#,
            Self::Aggregate => "SELECT VALUE SUM(c.amount) FROM c WHERE c.flag",
            Self::Group => "SELECT c.tenant AS a, COUNT(1) AS b, AVG(c.amount) AS c FROM c GROUP BY c.tenant",
            Self::Order => "SELECT TOP 100 VALUE c.id FROM c ORDER BY c.createdAt",
            Self::Join => "SELECT VALUE p.sku FROM c JOIN p IN c.parts WHERE p.price > 990",
        }
    }

    /// The same for PostgreSQL; an item is the `jsonb` in `doc`.
    pub const fn postgres(self) -> &'static str {
        match self {
            Self::Filter => {
                "SELECT id FROM items WHERE doc->>'status' = 'FAILED' AND (doc->>'retryCount')::int < 3"
            }
            Self::Aggregate => "SELECT sum((doc->>'amount')::float8) FROM items WHERE (doc->'flag')::boolean",
            Self::Group => {
                "SELECT doc->>'tenant', count(*), avg((doc->>'amount')::float8) FROM items GROUP BY 1"
            }
            Self::Order => "SELECT id FROM items ORDER BY doc->>'createdAt' LIMIT 100",
            Self::Join => {
                "SELECT p->>'sku' FROM items, jsonb_array_elements(doc->'parts') p \
                 WHERE (p->>'price')::float8 > 990"
            }
        }
    }
}
