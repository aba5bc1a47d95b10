//! Words that promise a secret after them. Not here: names of providers (`provider`).

/// What may follow a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// A secret that a machine drew; the word may stand inside a longer one.
    Token,
    /// The same, but the word means other things as well.
    Key,
    /// Something a person thought of.
    Password,
    /// The same, under a name that means other things as well.
    Pass,
    /// What stands in an HTTP header for it.
    Header,
    /// A few digits.
    Pin,
}

/// A word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub(super) rule: &'static str,
    /// In lower case, three characters at least.
    pub(super) text: &'static str,
    pub(super) promise: Promise,
}

const fn word(rule: &'static str, text: &'static str, promise: Promise) -> Word {
    Word { rule, text, promise }
}

/// Every word.
pub(super) const WORDS: &[Word] = &[
    word("authorization-header", "authorization", Promise::Header),
    word("bearer-token", "bearer", Promise::Token),
    word("token", "token", Promise::Token),
    word("secret", "secret", Promise::Token),
    word("credential", "credential", Promise::Token),
    word("credential", "creds", Promise::Token),
    word("api-key", "apikey", Promise::Token),
    word("api-key", "api_key", Promise::Token),
    word("api-key", "api-key", Promise::Token),
    word("api-key", "api key", Promise::Token),
    word("access-key", "accesskey", Promise::Token),
    word("access-key", "access_key", Promise::Token),
    word("access-key", "access-key", Promise::Token),
    word("access-key", "access key", Promise::Token),
    word("account-key", "accountkey", Promise::Token),
    word("account-key", "account_key", Promise::Token),
    word("private-key", "privatekey", Promise::Token),
    word("private-key", "private_key", Promise::Token),
    word("private-key", "private-key", Promise::Token),
    word("private-key", "private key", Promise::Token),
    word("signing-key", "signingkey", Promise::Token),
    word("signing-key", "signing_key", Promise::Token),
    word("encryption-key", "encryptionkey", Promise::Token),
    word("encryption-key", "encryption_key", Promise::Token),
    word("license-key", "license_key", Promise::Token),
    word("license-key", "licensekey", Promise::Token),
    word("key", "key", Promise::Key),
    word("key", "auth", Promise::Key),
    word("key", "api", Promise::Key),
    word("key", "access", Promise::Key),
    word("key", "cookie", Promise::Key),
    word("key", "webhook", Promise::Key),
    word("signature", "sig", Promise::Key),
    word("password", "password", Promise::Password),
    word("password", "passwort", Promise::Password),
    word("password", "passwd", Promise::Password),
    word("password", "passphrase", Promise::Password),
    word("password", "pass", Promise::Pass),
    word("password", "pwd", Promise::Pass),
    word("pin", "pin", Promise::Pin),
];
