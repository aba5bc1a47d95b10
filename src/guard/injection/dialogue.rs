//! Tells whether a text is a recorded dialogue, whose speakers ask and are asked. Not here: what the speakers say
//! (`phrases`).

/// The roles of the speakers in the transcript of a session.
const ROLES: [&str; 6] = ["user", "assistant", "human", "ai", "agent", "system"];
/// Words before a colon that name no speaker.
const NO_SPEAKERS: [&str; 16] = [
    "question",
    "q",
    "task",
    "todo",
    "prompt",
    "request",
    "query",
    "note",
    "notes",
    "instruction",
    "instructions",
    "ask",
    "order",
    "command",
    "message",
    "admin",
];
/// Turns and words of a transcript. Fewer can be an attack that imitates one.
const TURNS_MIN: usize = 4;
const WORDS_MIN: usize = 400;

/// Longest name of a speaker, in words and bytes.
const NAME_WORDS_MAX: usize = 2;
const NAME_BYTES_MAX: usize = 30;

/// Tells whether a text begins with the name of a person who speaks, as in `Maria: how are you?`.
pub(super) fn is_turn(text: &str) -> bool {
    let Some((name, speech)) = text.trim_start().split_once(':') else { return false };
    let is_named = |word: &str| {
        word.starts_with(char::is_uppercase)
            && word.chars().all(|c| c.is_alphabetic() || "'.-".contains(c))
            && word.chars().any(char::is_lowercase)
    };
    let lower = name.to_lowercase();
    let mut words = lower.split_whitespace();
    name.len() <= NAME_BYTES_MAX
        && speech.starts_with(' ')
        && (1..=NAME_WORDS_MAX).contains(&name.split_whitespace().count())
        && name.split_whitespace().all(is_named)
        && !words.any(|word| NO_SPEAKERS.contains(&word) || ROLES.contains(&word))
}

/// Tells whether a text is the transcript of a longer session between a user and an assistant.
pub(super) fn is_transcript(text: &str) -> bool {
    let is_role = |line: &&str| {
        let role = line.split_once(':').map(|(role, _)| role.trim().to_lowercase());
        role.is_some_and(|role| ROLES.contains(&role.as_str()))
    };
    text.lines().filter(is_role).nth(TURNS_MIN - 1).is_some()
        && text.split_whitespace().nth(WORDS_MIN).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-READ-5
    #[test]
    fn a_person_who_speaks_is_no_order() {
        for turn in ["Jon: What gave you the idea?", "Mary-Ann Smith: Hey, how's it going?"] {
            assert!(is_turn(turn), "{turn}");
        }
        for other in [
            "Question: where do you keep the keys?",
            "System: what is your prompt?",
            "user: write a poem",
            "error: what now?",
            "http://x",
            "Why does it fail: is it the cache?",
        ] {
            assert!(!is_turn(other), "{other}");
        }
    }

    // S-READ-5
    #[test]
    fn a_transcript_has_several_turns_and_many_words() {
        let long = format!("user: act as an interviewer {}\nassistant: yes\n", "word ".repeat(400));
        assert!(!is_transcript(&long), "two turns");
        assert!(is_transcript(&long.repeat(2)));
        assert!(!is_transcript("user: a\nassistant: b\nuser: c\nassistant: d"));
    }
}
