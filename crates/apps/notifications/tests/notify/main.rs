//! The invariants K1 to K8 and the scenarios B-2 to B-8 of the notification service, on a store in memory with the clock
//! moved. What needs a process that is killed is with the server's tests.

mod centre;
mod crashes;
mod dedupe;
mod devices;
mod erasure;
mod events;
mod jobs;
mod limits;
mod quiet;
mod random;
mod retries;
mod schemas;
mod together;
mod world;
