//! The fuzz target on inputs from a fixed seed: noise, and samples with a few bytes changed.

use orrery_api_queue::fuzz;
use orrery_testing_golden::Noise;

const ROUNDS: usize = 20_000;

const BODIES: [&str; 4] = [
    "<QueueMessage><MessageText>hello</MessageText></QueueMessage>",
    "<?xml version='1.0' encoding='utf-8'?>\n<QueueMessage><MessageText> a&#xD;&#10;&lt;b&amp;\n</MessageText></QueueMessage>",
    "<QueueMessage><MessageText>a<![CDATA[<b> & ]]>c<!-- d --></MessageText></QueueMessage>",
    "\u{feff}<QueueMessage xmlns=\"urn:x\"><MessageText>東京 🚀</MessageText></QueueMessage>",
];

#[test]
fn noise_and_damage_do_not_break_the_decoder_of_messages() {
    let mut noise = Noise::new(0x0bad_5eed);
    for round in 0..ROUNDS {
        if round.is_multiple_of(4) {
            fuzz::message(&noise.bytes(60));
        } else {
            fuzz::message(&noise.damage(BODIES[round % BODIES.len()].as_bytes()));
        }
    }
}

#[test]
fn the_samples_themselves_do_not_break_it() {
    BODIES.iter().for_each(|body| fuzz::message(body.as_bytes()));
}
