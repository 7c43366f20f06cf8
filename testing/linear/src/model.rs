//! One item, as simply as it can be said.

use crate::history::{Answer, Call, Seen};

/// The state after the call, if the answer is one that it can have in this state.
pub(crate) fn apply(state: Option<Seen>, call: Call, answer: Answer) -> Option<Option<Seen>> {
    let (next, expected) = happens(state, call);
    let is_right = answer == expected || answer == Answer::Unknown;
    is_right.then_some(next)
}

fn happens(state: Option<Seen>, call: Call) -> (Option<Seen>, Answer) {
    match (call, state) {
        (Call::Create { new }, None) => (Some(new), Answer::Done),
        (Call::Create { .. }, Some(_)) => (state, Answer::Exists),
        (_, None) => (None, Answer::Missing),
        (Call::Read, Some(there)) => (state, Answer::Shown(there)),
        (Call::ReplaceIf { tag, new }, Some(there)) if there.tag == tag => (Some(new), Answer::Done),
        (Call::ReplaceIf { .. }, Some(_)) => (state, Answer::Changed),
        (Call::Delete, Some(_)) => (None, Answer::Done),
        (Call::Increment { by, tag }, Some(there)) => {
            let next = Seen { value: there.value + by, tag };
            (Some(next), Answer::Shown(next))
        }
    }
}
