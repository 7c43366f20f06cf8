//! Outcomes chosen by a test, and a record of the pushes.

use super::{Message, Outcome};
use crate::records::Device;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A cheap handle; clones share the script and the record.
#[derive(Clone, Default)]
pub struct Scripted(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    script: Option<Script>,
}

/// Chooses the outcome from the message and the device.
pub type Script = Arc<dyn Fn(&Device, &Message) -> Outcome + Send + Sync>;

#[derive(Default)]
struct State {
    /// By device id; when a queue is empty, pushes are delivered.
    next: HashMap<String, VecDeque<Outcome>>,
    pushed: Vec<Pushed>,
}

/// One attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Pushed {
    pub device_id: String,
    pub message: Message,
    pub outcome: Outcome,
}

impl Scripted {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn by(script: Script) -> Self {
        Self(Arc::new(Inner { state: Mutex::default(), script: Some(script) }))
    }

    /// Appends outcomes for a device.
    pub fn then(&self, device_id: &str, outcomes: impl IntoIterator<Item = Outcome>) {
        self.state().next.entry(device_id.to_owned()).or_default().extend(outcomes);
    }

    /// Every attempt so far, in order.
    pub fn pushed(&self) -> Vec<Pushed> {
        self.state().pushed.clone()
    }

    /// The number delivered.
    pub fn delivered(&self) -> usize {
        self.state().pushed.iter().filter(|pushed| pushed.outcome.is_delivered()).count()
    }

    pub(super) fn push(&self, device: &Device, message: &Message) -> Outcome {
        let said = self.0.script.as_ref().map(|script| script(device, message));
        let mut state = self.state();
        let queued = state.next.get_mut(&device.device_id).and_then(VecDeque::pop_front);
        let outcome = queued.or(said).unwrap_or(Outcome::Delivered);
        let pushed = Pushed {
            device_id: device.device_id.clone(),
            message: message.clone(),
            outcome: outcome.clone(),
        };
        state.pushed.push(pushed);
        outcome
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
pub fn device(id: &str, platform: crate::records::Platform) -> Device {
    Device {
        id: id.to_owned(),
        user_id: "user-1".to_owned(),
        device_id: id.to_owned(),
        push_token: format!("token-of-{id}"),
        platform,
        label: "A phone".to_owned(),
        created_at: "2026-11-15T10:00:00.000Z".to_owned(),
        last_seen_at: "2026-11-15T10:00:00.000Z".to_owned(),
        revoked_at: None,
        revoke_reason: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::push::{Providers, message};
    use crate::records::Platform;

    #[tokio::test]
    async fn scripted_outcomes_come_in_order_then_all_is_delivered() {
        let scripted = Scripted::new();
        let gone = Outcome::Unregistered { reason: "gone".to_owned(), status: Some(410) };
        scripted.then("a", [gone.clone()]);
        let providers = Providers::of(scripted.clone());
        let push = async |id: &str| providers.push(&device(id, Platform::Fcm), &message::example()).await;
        assert_eq!(push("a").await, gone);
        assert_eq!(push("b").await, Outcome::Delivered);
        assert_eq!(push("a").await, Outcome::Delivered);
        let devices: Vec<String> = scripted.pushed().into_iter().map(|pushed| pushed.device_id).collect();
        assert_eq!(
            (devices, scripted.delivered()),
            (vec!["a".to_owned(), "b".to_owned(), "a".to_owned()], 2)
        );
    }
}
