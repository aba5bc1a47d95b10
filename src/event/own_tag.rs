//! Tags that programs of ours put on memories, by which they find them again. No person chose them, so none is offered to one. Not
//! here: making them (`learning::signature`, `rule`).

use super::AGENT_FILE;

/// Hexadecimal digits of a key: sixty-four bits tell any two lessons of one store apart.
pub const KEY_DIGITS: usize = 16;

/// What a tag of ours says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnTag {
    /// Which failure it was: `sig` and a key.
    Failure,
    /// Which failure it was and what fixed it: `fix` and a key.
    Fix,
    /// That the memory is a rule of a file for agents.
    AgentFile,
}

impl OwnTag {
    /// Reads a tag; `None` where it is not one of ours.
    #[must_use]
    pub fn parse(tag: &str) -> Option<Self> {
        if tag == AGENT_FILE {
            return Some(Self::AgentFile);
        }
        let keyed = [Self::Failure, Self::Fix];
        keyed.into_iter().find(|kind| tag.strip_prefix(kind.beginning()).is_some_and(is_key))
    }

    /// Tells whether it has a key, which says nothing to a person.
    #[must_use]
    pub fn is_key(self) -> bool {
        self != Self::AgentFile
    }

    /// Returns what a tag of this kind begins with.
    #[must_use]
    pub fn beginning(self) -> &'static str {
        match self {
            Self::Failure => "sig",
            Self::Fix => "fix",
            Self::AgentFile => AGENT_FILE,
        }
    }
}

fn is_key(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == KEY_DIGITS && text.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-TAG-1
    #[test]
    fn our_own_tags_are_told_from_others() {
        for (tag, own) in [
            ("sig0123456789abcdef", Some(OwnTag::Failure)),
            ("fix0123456789abcdef", Some(OwnTag::Fix)),
            ("agent-file", Some(OwnTag::AgentFile)),
            ("sig0123456789abcde", None),
            ("sig0123456789abcdeg", None),
            ("signature-algorithm", None),
            ("fix", None),
            ("", None),
        ] {
            assert_eq!(OwnTag::parse(tag), own, "{tag}");
        }
    }
}
