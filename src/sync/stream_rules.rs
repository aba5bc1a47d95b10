//! What the server and the stream of a big team must be like. The program checks it and changes nothing: the stream belongs to
//! the team. Not here: asking the server (`team_stream`).

use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};

/// The subjects of the stream.
pub(crate) const ALL: &str = "ak1.e.>";

/// The shortest limit of a message: our own lines have at most 64 KiB.
const MESSAGE_BYTES_MIN: i32 = 72 * 1024;

/// Tells whether a server is recent enough: the tests run with later ones alone.
pub(crate) fn is_recent(version: &str) -> bool {
    let mut numbers = version.split(['.', '-']).map(|number| number.parse::<u32>().ok());
    let (major, minor) = (numbers.next().flatten(), numbers.next().flatten());
    major.zip(minor).is_some_and(|version| version >= (2, 12))
}

/// What an administrator types, once.
fn command(stream: &str) -> String {
    format!(
        "nats stream add {stream} --subjects '{ALL}' --storage file --replicas 3 --retention limits --discard new \
         --max-age 0 --max-msgs -1 --max-msgs-per-subject -1 --max-bytes -1 --max-msg-size 131072 --dupe-window 2m \
         --no-deny-delete --no-deny-purge --allow-direct --defaults"
    )
}

/// What is told if there is no stream.
pub(crate) fn missing_stream_text(stream: &str) -> String {
    format!(
        "there is no stream {stream} on the server; its administrator makes it once:\n{}",
        command(stream)
    )
}

/// Tells what of a stream is not as it must be. `None` if all is well.
pub(crate) fn stream_fault(config: &Config) -> Option<String> {
    let unlimited = |most: i64| most <= 0;
    let rules = [
        (config.subjects == [ALL], "its only subject must be ak1.e.>"),
        (config.storage == StorageType::File, "it must be stored in files"),
        (config.retention == RetentionPolicy::Limits, "its retention must be limits"),
        (
            config.discard == DiscardPolicy::New,
            "a full stream must refuse new messages (discard new)",
        ),
        (config.max_age.is_zero(), "messages must not expire (max-age 0)"),
        (
            unlimited(config.max_messages) && unlimited(config.max_messages_per_subject),
            "the number of messages must not be limited",
        ),
        (
            config.max_message_size <= 0 || config.max_message_size >= MESSAGE_BYTES_MIN,
            "a message must be allowed 131072 bytes",
        ),
        (!config.deny_delete, "withdrawn lines must be erased (no deny-delete)"),
        (!config.sealed, "it is sealed"),
        (
            config.mirror.is_none() && config.sources.as_ref().is_none_or(Vec::is_empty),
            "it must not be a mirror of another stream",
        ),
        (config.subject_transform.is_none(), "it must not rename subjects"),
    ];
    let off: Vec<&str> =
        rules.iter().filter(|(is_well, _)| !is_well).map(|(_, what)| *what).collect();
    let name = &config.name;
    (!off.is_empty()).then(|| {
        format!(
            "the stream {name} is not as it must be: {}; as it should be:\n{}",
            off.join(", "),
            command(name)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-NATS-3
    #[test]
    fn servers_before_2_12_are_refused() {
        for recent in ["2.12.0", "2.12.0-RC.1", "2.15.1", "3.0.0"] {
            assert!(is_recent(recent), "{recent}");
        }
        for old in ["2.11.11", "1.99.0", "2", "", "x.y.z", "2.x"] {
            assert!(!is_recent(old), "{old}");
        }
    }

    // S-NATS-3
    #[test]
    fn every_rule_of_a_stream_is_told() {
        let right = Config {
            name: "AK1".to_owned(),
            subjects: vec![ALL.to_owned()],
            discard: DiscardPolicy::New,
            max_message_size: 131_072,
            ..Config::default()
        };
        assert_eq!(stream_fault(&right), None);
        let told = |change: &dyn Fn(&mut Config)| {
            let mut config = right.clone();
            change(&mut config);
            stream_fault(&config).unwrap_or_default()
        };
        assert!(told(&|config| config.subjects = vec!["x".to_owned()]).contains("only subject"));
        assert!(told(&|config| config.storage = StorageType::Memory).contains("in files"));
        assert!(told(&|config| config.retention = RetentionPolicy::Interest).contains("limits"));
        assert!(told(&|config| config.discard = DiscardPolicy::Old).contains("discard new"));
        assert!(
            told(&|config| config.max_age = std::time::Duration::from_secs(1)).contains("expire")
        );
        assert!(told(&|config| config.max_messages_per_subject = 1).contains("number"));
        assert!(told(&|config| config.max_message_size = 1_024).contains("131072"));
        assert!(told(&|config| config.deny_delete = true).contains("erased"));
        assert!(told(&|config| config.sealed = true).contains("sealed"));
        let told = told(&|config| config.max_messages = 9);
        assert!(told.contains("nats stream add AK1 --subjects 'ak1.e.>'"), "{told}");
    }
}
