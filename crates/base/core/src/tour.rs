//! The steps that the tours in `docs/tour` name, logged as a request takes them: `orrery serve --log tour=trace`.
//!
//! A test walks each tour with a real request and compares this log with the tour's table. Release builds contain nothing
//! of it: `tracing` is compiled there without the level `trace`.

/// The target of these log lines.
const TARGET: &str = "tour";

/// Marks the function around it as a step of a tour.
#[macro_export]
macro_rules! tour_step {
    () => {{
        fn here() {}
        $crate::tour_step_of(std::any::type_name_of_val(&here), file!());
    }};
}

/// Logs a step; `here` is the path of a function inside the step's own. Apart from the macro, so that a marked function's
/// stack frame does not grow.
#[doc(hidden)]
#[inline]
pub fn tour_step_of(here: &'static str, file: &'static str) {
    tracing::trace!(target: TARGET, "{} in {file}", name(here));
}

/// The function's own name: `a::b::c::{{closure}}::here` is inside of `c`, which is asynchronous.
fn name(here: &str) -> &str {
    let names = here.rsplit("::").skip(1);
    names.into_iter().find(|name| *name != "{{closure}}").unwrap_or(here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_the_name_of_its_function() {
        let check = |here: &str, expected: &str| assert_eq!(name(here), expected, "{here}");
        check("orrery_txn::queue::Queue::push::here", "push");
        check("orrery_txn::manager::settle::here", "settle");
        check("orrery_api_cosmos::service::Cosmos::handle::{{closure}}::here", "handle");
        check("<orrery_kv_fjall::engine::FjallEngine as orrery_kv::Engine>::write::here", "write");
    }
}
