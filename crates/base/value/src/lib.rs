//! JSON as Cosmos DB sees it: values, their order, one-pass scanning of text, Cosmos binary JSON.
