//! What a token allows: each right includes the ones before it. Not here: which request needs which (`verbs`), who has
//! which (`access::named_token`).

use std::fmt;

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rights {
    /// To ask about memories.
    Read,
    /// Also to save and change them.
    Write,
    /// Also what is for the owner of the server: the dashboard, past sessions, and the state of the machine.
    Admin,
}

impl Rights {
    /// All of them, from the fewest to the most.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// Returns its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    /// Returns the rights with a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rights| rights.as_str() == name)
    }
}

impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_right_includes_the_ones_before() {
        assert!(Rights::Read < Rights::Write && Rights::Write < Rights::Admin);
        for rights in Rights::ALL {
            assert_eq!(Rights::parse(rights.as_str()), Some(rights));
        }
        assert_eq!(Rights::parse("Admin"), None);
    }
}
