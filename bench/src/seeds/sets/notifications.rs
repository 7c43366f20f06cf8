//! Notifications (S2-23): a few users with very many among many with few; how many are unread (S2-24), and the
//! newest page (S2-25).

use super::{definition, everything};
use crate::seeds::draw::{mix, text, time, uuid};
use crate::seeds::scene::Scene;
use crate::seeds::set::{Item, Set};
use crate::seeds::workload::{Act, Agreement, Case, P95, Pages, Question, Scope, Workload};

const BUSY_USERS: u64 = 4;
const FEW: u64 = 10;
const TTL_SECONDS: u64 = 2_592_000;
const CATEGORIES: [&str; 5] = ["SOCIAL", "SAFETY", "SECURITY", "NEWS", "MARKETING"];

pub fn scene(tenth: u64) -> Scene {
    let workload = |name: &str, about: &str, question| Workload {
        name: name.to_owned(),
        about: format!("{about}, of a user with {} of {} notifications", 10_000 / tenth, 100_000 / tenth),
        set: 0,
        connections: 1,
        act: Act::Ask(question),
        p95: Some(P95::ours(5.0)),
    };
    Scene::new(
        "notifications",
        vec![set(100_000 / tenth)],
        vec![
            workload("seeds-unread-count", "how many are unread", unread()),
            workload("seeds-list-page", "the newest 20", newest()),
        ],
    )
}

fn unread() -> Question {
    Question {
        cosmos: "SELECT VALUE COUNT(1) FROM c WHERE c.userId = @user AND c.read = false AND c.dismissed = false",
        postgres: "SELECT count(*)::text FROM notifications WHERE pk = $1 \
                   AND doc->>'read' = 'false' AND doc->>'dismissed' = 'false'"
            .to_owned(),
        parameters: &["@user"],
        scope: Scope::Partition,
        pages: Pages::All,
        agreement: Agreement::Order,
        cases: cases(),
    }
}

fn newest() -> Question {
    Question {
        cosmos: "SELECT * FROM c WHERE c.userId = @user AND c.dismissed = false ORDER BY c.createdAt DESC",
        postgres: "SELECT doc::text FROM notifications WHERE pk = $1 AND doc->>'dismissed' = 'false' \
                   ORDER BY doc->>'createdAt' DESC LIMIT 20"
            .to_owned(),
        parameters: &["@user"],
        scope: Scope::Partition,
        pages: Pages::First(20),
        agreement: Agreement::Order,
        cases: cases(),
    }
}

fn cases() -> Vec<Case> {
    (0..BUSY_USERS).map(|number| Case::new([user(number)])).collect()
}

fn set(items: u64) -> Set {
    Set {
        name: "notifications".to_owned(),
        items,
        definition: definition("/userId", TTL_SECONDS, &everything()),
        indexes: vec![
            "(pk, (doc->>'category'))".to_owned(),
            "(pk, (doc->>'read'))".to_owned(),
            "(pk, (doc->>'dismissed'))".to_owned(),
            "(pk, (doc->>'createdAt'))".to_owned(),
        ],
        draw,
    }
}

/// A tenth of all goes to each busy user, and the rest to users with ten.
fn draw(number: u64, items: u64) -> Item {
    let drawn = mix(number);
    let whose = match number % 10 {
        busy @ 0..BUSY_USERS => busy,
        _ => BUSY_USERS + drawn % (items * (10 - BUSY_USERS) / 10 / FEW).max(1),
    };
    let (id, partition) = (uuid(number), user(whose));
    let (read, dismissed) = (!(drawn >> 8).is_multiple_of(5), (drawn >> 16).is_multiple_of(10));
    let at = number * 1000;
    let read_at = if read { format!("\"readAt\":\"{}\",", time(at + 60_000)) } else { String::new() };
    let text = format!(
        "{{\"id\":\"{id}\",\"userId\":\"{partition}\",\"category\":\"{}\",\"eventType\":\"POST_COMMENT\",\
         \"title\":\"New comment\",\"body\":\"{}\",\"deeplink\":\"asora://post/{:08}\",\
         \"targetId\":\"post-{:08}\",\"targetType\":\"post\",\"read\":{read},{read_at}\"dismissed\":{dismissed},\
         \"createdAt\":\"{}\"}}",
        CATEGORIES[(drawn >> 24) as usize % CATEGORIES.len()],
        text(drawn, 160),
        drawn >> 40,
        drawn >> 40,
        time(at),
    );
    Item { id, partition, text }
}

fn user(number: u64) -> String {
    format!("user-{number:06}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::set::checks::items_are_sound;

    #[test]
    fn busy_users_have_a_tenth_each_and_a_fifth_of_it_is_unread() {
        let items = items_are_sound(&set(10_000), 350..=600);
        let mine: Vec<_> = items.iter().filter(|item| item["userId"] == user(2)).collect();
        assert_eq!(mine.len(), 1000);
        let unread = mine.iter().filter(|item| item["read"] == false && item["dismissed"] == false).count();
        assert!((120..240).contains(&unread), "{unread}");
    }
}
