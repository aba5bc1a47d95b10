//! The forms in which an operator binds a value to its name, as regexes from the name to where the value begins. Not
//! here: how a value is cut (`binding`).

use std::sync::OnceLock;

use super::text::{Text, count};
use crate::rule_regex::RuleRegex;

/// White space between an operator and its value, and the longest note between a name and its operator.
const BINDING_BYTES_MAX: usize = 96;

/// Quotes, brackets and white space between a name and its operator.
const GAP_BYTES_MAX: usize = 40;

/// A form that a regex recognises: it matches from the name to where the value begins.
pub(super) struct BindingForm {
    /// Whether it begins after the words that follow a name, or right after the name.
    pub(super) follows_words: bool,
    /// Bytes that may come first, and the text that must follow; checked before the regex is compiled.
    gap: &'static [u8],
    firsts: &'static [u8],
    /// Whether the value must be in quotes.
    pub(super) is_quoted: bool,
    regex: OnceLock<RuleRegex>,
    pattern: &'static str,
}

/// The form of an operator.
pub(super) const AFTER_OPERATOR: usize = 0;

/// The form of a comma between two quoted values.
pub(super) const IN_LIST: usize = 1;

/// The form of a call of the name.
pub(super) const IN_CALL: usize = 2;

/// The form of a name and its value under names of their own.
pub(super) const IN_PAIR: usize = 3;

/// The form of tags of XML between a name and its value.
pub(super) const AFTER_TAGS: usize = 7;

const CLOSERS: &[u8] = b"\"'`])* \t";

/// Every form with an operator.
pub(super) static FORMS: [BindingForm; 14] = [
    // name = value, "name": value, name => value, <name>value, name | value, and a value on the next line or
    // in a block of YAML. The last alternatives are Chinese, Japanese and Korean.
    BindingForm {
        follows_words: true,
        gap: CLOSERS,
        firsts: b"=:>?+|~.-\xC2\xE2\xEF\xE6\xE4\xE7\xE3\xEB\xEC",
        is_quoted: false,
        regex: OnceLock::new(),
        pattern: r#"["'`\])* \t]*(?:[?+|~.-]?:{0,3}=+>?|[~-]>|:-|\??:(?:: )?|\xE2\x86\x92|\xE2\x87\x92|\xE2\x9E[\x94-\xBE]|\xE2\x80\xBA|\xC2\xBB|\b\|{1,2} |\xE3\x80\x8C|\|\||\B\| |>{1,2}|\xEF\xBC\x9A|\xE6\x98\xAF|\xE4\xB8\xBA|\xE7\x82\xBA|\xE3\x81\xAF|\xE3\x82\x92|\xEB\x8A\x94|\xEC\x9D\x80)[ \t\r\n*(=]*(?:[|>-]{1,2}\n[ \t\r\n]*)?"#,
    },
    // ("name", "value")
    BindingForm {
        follows_words: true,
        gap: CLOSERS,
        firsts: b",",
        is_quoted: true,
        regex: OnceLock::new(),
        pattern: r#"(?:\]?["'][\])* \t]*|\w{0,12}),[ \t*(=]*"#,
    },
    // name("value")
    BindingForm {
        follows_words: true,
        gap: b"",
        firsts: b"(",
        is_quoted: true,
        regex: OnceLock::new(),
        pattern: r"\(",
    },
    // name: NAME, value: VALUE; key="NAME" value="VALUE"; --name NAME --body VALUE
    BindingForm {
        follows_words: false,
        gap: b"\"'`, \n\r\t-</{:(",
        firsts: b"bcdsvtBCDSVT",
        is_quoted: false,
        regex: OnceLock::new(),
        pattern: r#"["'`, \n\r\t<{/:(-]+(?:(?i:value|body|content|default|data|secretstring)|-b|t \w+ /d)["' ]{0,4}(?:[=:> ]{1,4} *|\b)"#,
    },
    // name: TYPE = "value", name?: TYPE = "value"
    BindingForm {
        follows_words: true,
        gap: b"",
        firsts: b":?",
        is_quoted: true,
        regex: OnceLock::new(),
        pattern: r"[:?][\w &<>\[\]?:*.'|]*=[ \t\r\n*(]*",
    },
    // "name": {"type": "string", "value": "value"}
    BindingForm {
        follows_words: false,
        gap: b"\"' ",
        firsts: b":",
        is_quoted: true,
        regex: OnceLock::new(),
        pattern: r#"["' ]{0,3}:[ \t]*\{[^{}]{0,64}["'](?i:value|default)["'] ?:[ \t]*"#,
    },
    // "Name": "name", "Type": "type", "Value": "value"
    BindingForm {
        follows_words: false,
        gap: b"\"', \n\r\t",
        firsts: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        is_quoted: true,
        regex: OnceLock::new(),
        pattern: r#"["'][, \n\r\t]+(?:["']\w+["'] ?: ?["'][^"'\n]*["'][, \n\r\t]+){1,2}["'](?i:value|secretstring)["'] ?: ?"#,
    },
    // <key>name</key> <string>value</string>
    BindingForm {
        follows_words: false,
        gap: b"",
        firsts: b"<>:",
        is_quoted: false,
        regex: OnceLock::new(),
        pattern: r":?>?(?:[ \t\r\n]*</?[A-Za-z][^<>\n]{0,48}>){1,4}[ \t\r\n]*",
    },
    // name() or "value", "$name" != "value", name <- "value"
    BindingForm {
        follows_words: false,
        gap: b"\"'() \t",
        firsts: b"o|?!<",
        is_quoted: true,
        regex: OnceLock::new(),
        pattern: r#"["']?(?:\(\))?[ \t]+(?:(?:or|\|\||\?\?|!==?|<-)[ \t]+|\| ?default ?\(?)"#,
    },
    // ("name").fill("value"), "name", with: "value"
    BindingForm {
        follows_words: false,
        gap: b"\"')",
        firsts: b".,",
        is_quoted: true,
        regex: OnceLock::new(),
        pattern: r#"["']\)*(?:\.(?:fill|type|send_?[kK]eys|set|set_?[vV]alue|val|input|enter|unwrap_or|or|or_?[eE]lse|get_?[oO]r)\(|, ?with: ?)"#,
    },
    // name (note): value
    BindingForm {
        follows_words: true,
        gap: b"",
        firsts: b"(",
        is_quoted: false,
        regex: OnceLock::new(),
        pattern: r"\([^)\n]{0,40}\)[ *]{0,3}[:=][ \t\r\n*(=]*",
    },
    // name("for", "value")
    BindingForm {
        follows_words: false,
        gap: b"",
        firsts: b"(",
        is_quoted: true,
        regex: OnceLock::new(),
        pattern: r#"\((?:["'][^"'\n]{0,40}["'], ?){1,2}"#,
    },
    // name="NAME" type="hidden" value="VALUE"
    BindingForm {
        follows_words: false,
        gap: b"",
        firsts: b"\"'",
        is_quoted: true,
        regex: OnceLock::new(),
        pattern: r#"["'](?: [\w-]+=["'][^"'\n]{0,24}["']){1,3} +value ?= ?"#,
    },
    // name = String::from("value"), name: Some("value"), name = lambda: "value"
    BindingForm {
        follows_words: true,
        gap: CLOSERS,
        firsts: b"=:",
        is_quoted: true,
        regex: OnceLock::new(),
        pattern: r#"["'`\])* \t]*:?=?>?[ \t\r\n]*(?:(?:new )?(?:[A-Za-z_][\w.:]{0,40}[.:])?(?i:from|some|new|of|string|text|bytes|secret|(?:secret|secure)_?string|hash|hash_?pw|md5|sha1|sha256|crypt|password|(?:b64|base64)_?encode|encode|_T|\[\]byte)\([ \t\r\n]*|lambda[ \w,*]{0,20}: *|[\w.]{1,40}\([^()\n]{0,40}\) ?(?:or|\|\||\?[?:]) |\(\w*\) ?=> ?)"#,
    },
];

impl BindingForm {
    /// Returns where the value begins if the form is at `at`.
    pub(super) fn value(&self, text: Text<'_>, at: usize) -> Option<usize> {
        let first = match text.at(at) {
            byte if self.gap.contains(&byte) => {
                text.run_while(at, GAP_BYTES_MAX, |byte| self.gap.contains(&byte))
            }
            _ => at,
        };
        if !self.firsts.contains(&text.at(first)) {
            return None;
        }
        count(BINDING_BYTES_MAX);
        let regex = self.regex.get_or_init(|| RuleRegex::new(self.pattern));
        let (_, value) = regex.matched(text.0, at, at + BINDING_BYTES_MAX)?.whole;
        // `a->b` and `::` lead to something else.
        let arrow = text.slice(at, value).windows(2).position(|pair| pair == b"->");
        let is_path =
            arrow.is_some_and(|place| text.before(at + place) != b' ') || text.at(value) == b':';
        (!is_path).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_a_regex_that_compiles() {
        for form in &FORMS {
            assert!(RuleRegex::new(form.pattern).is_valid(), "{}", form.pattern);
        }
    }
}
