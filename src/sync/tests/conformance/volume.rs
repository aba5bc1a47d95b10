//! As many lines of as many stores as a busy team has.

use crate::laptops::{API, Laptop, Team, kinds};

fn fill(laptop: &Laptop, from: usize, count: usize) {
    let line = |n: usize| {
        let text =
            format!("{} learnt {n}: {}", laptop.host, "the cache must be cleared ".repeat(14));
        format!(
            "{{\"id\":\"{0}-{n}\",\"timestamp\":\"2026-03-04T11:00:00Z\",\"repo\":\"github.com/acme/api\",\"lesson\":\"{text}\"}}\n",
            laptop.host
        )
    };
    let path = laptop.store.root().join(API);
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let more: String = (from..from + count).map(line).collect();
    std::fs::write(path, before + &more).unwrap();
}

/// Each of the stores writes its lines in some rounds; then all have all.
fn all_get_all(stores: usize, lines: usize, rounds: usize) {
    for kind in kinds() {
        let team = Team::new(kind);
        let laptops: Vec<Laptop> =
            (0..stores).map(|number| team.laptop(&format!("m{number}"))).collect();
        for round in 0..rounds {
            for laptop in &laptops {
                fill(laptop, round * lines / rounds, lines / rounds);
                laptop.sync();
            }
        }
        for laptop in &laptops {
            laptop.sync();
        }
        let first = laptops[0].all_lines();
        assert_eq!(first.len(), stores * lines);
        assert!(laptops.iter().all(|laptop| laptop.all_lines() == first));
        let newcomer = team.laptop("new");
        assert_eq!(newcomer.sync().fetched, stores * lines);
    }
}

// S-SYNC-4, S-SYNC-6
#[test]
fn twenty_thousand_lines_of_eight_stores_arrive() {
    all_get_all(8, 2_500, 2);
}
