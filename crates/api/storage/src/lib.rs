//! What the blob, queue and table protocols share: addresses, authorization, versions, errors, service properties.
