//! Common short forms of words, as people type them in queries: `k8s` is `kubernetes`. Not here: the weight of a term
//! with several forms (`query`), mistyped words (`nearby_terms`).

use std::collections::HashMap;
use std::sync::LazyLock;

use super::analysis::{Tokenizers, WordCache};
use super::tokenize::terms_of;

/// Each short form with its long forms. A word stands here only if people mean the same by both, and if its stem is no
/// other word's: `prod` is missing, since `production` and `product` have one stem.
const FORMS: [(&str, &[&str]); 51] = [
    ("admin", &["administrator"]),
    ("app", &["application"]),
    ("args", &["arguments"]),
    ("async", &["asynchronous"]),
    ("auth", &["authentication", "authenticate"]),
    ("authn", &["authentication"]),
    ("btn", &["button"]),
    ("cert", &["certificate"]),
    ("cfg", &["configuration", "config"]),
    ("cmd", &["command"]),
    ("conf", &["configuration", "config"]),
    ("config", &["configuration"]),
    ("conn", &["connection"]),
    ("creds", &["credentials"]),
    ("ctx", &["context"]),
    ("db", &["database"]),
    ("deps", &["dependencies"]),
    ("dev", &["development"]),
    ("dir", &["directory"]),
    ("docs", &["documentation"]),
    ("env", &["environment"]),
    ("err", &["error"]),
    ("func", &["function"]),
    ("gh", &["github"]),
    ("i18n", &["internationalization"]),
    ("impl", &["implementation"]),
    ("js", &["javascript"]),
    ("k8s", &["kubernetes"]),
    ("lib", &["library"]),
    ("max", &["maximum"]),
    ("mem", &["memory"]),
    ("mongo", &["mongodb"]),
    ("msg", &["message"]),
    ("param", &["parameter"]),
    ("passwd", &["password"]),
    ("perms", &["permissions"]),
    ("pg", &["postgres", "postgresql"]),
    ("pkg", &["package"]),
    ("postgres", &["postgresql"]),
    ("pwd", &["password"]),
    ("py", &["python"]),
    ("repo", &["repository"]),
    ("req", &["request"]),
    ("spec", &["specification"]),
    ("src", &["source"]),
    ("svc", &["service"]),
    ("sync", &["synchronization", "synchronize"]),
    ("tf", &["terraform"]),
    ("tmp", &["temporary"]),
    ("tz", &["timezone"]),
    ("var", &["variable"]),
];

/// The other forms of each term, in the form of the index.
static OTHER_FORMS: LazyLock<HashMap<Box<str>, Vec<Box<str>>>> = LazyLock::new(|| {
    let words = Tokenizers::new();
    let mut cache = WordCache::default();
    let mut term = |word: &str| -> Box<str> {
        terms_of(word, 1, &words, &mut cache).iter().next().unwrap_or(word).into()
    };
    let mut forms: HashMap<Box<str>, Vec<Box<str>>> = HashMap::new();
    let mut add = |one: &str, other: &str| {
        let others = forms.entry(one.into()).or_default();
        if one != other && !others.iter().any(|known| **known == *other) {
            others.push(other.into());
        }
    };
    for (short, long_forms) in FORMS {
        let short = term(short);
        for long in long_forms {
            let long = term(long);
            add(&short, &long);
            add(&long, &short);
        }
    }
    forms
});

/// Returns the other forms of a term of the index; none for most terms.
pub(super) fn other_forms(term: &str) -> &'static [Box<str>] {
    OTHER_FORMS.get(term).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::super::DocId;
    use super::super::LexicalIndex;
    use super::*;

    fn found(texts: &[&str], query: &str) -> Vec<u32> {
        let mut index = LexicalIndex::default();
        for (number, text) in (0..).zip(texts) {
            index.insert(DocId(number), text).unwrap();
        }
        index.prepare(query).search(|_| true, 10).iter().map(|scored| scored.doc.0).collect()
    }

    // S-RANK-1
    #[test]
    fn a_short_form_finds_the_long_one_and_the_other_way_round() {
        let texts = ["kubernetes rejects the manifest", "k8s rejects the quota", "docker is full"];
        assert_eq!(found(&texts, "k8s manifest"), [0, 1]);
        assert_eq!(found(&texts, "kubernetes quota"), [1, 0]);
        assert_eq!(found(&texts, "k8s"), found(&texts, "kubernetes"));
        assert_eq!(found(&["authentication fails", "authors fail"], "auth"), [0]);
    }

    #[test]
    fn every_form_is_one_known_term() {
        for (short, long_forms) in FORMS {
            for long in long_forms {
                assert!(!found(&[long], short).is_empty(), "{short} finds {long}");
                assert!(!found(&[short], long).is_empty(), "{long} finds {short}");
            }
        }
        assert!(FORMS.is_sorted_by(|one, next| one.0 < next.0));
        assert!(other_forms("walrus").is_empty());
    }
}
