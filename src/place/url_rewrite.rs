//! URLs that git's settings rewrite: `url.<base>.insteadOf`. What only pushes use (`pushInsteadOf`) says nothing about where a
//! repository is. Not here: where the settings stand (`git_settings`).

use crate::setting_text::Setting;

/// Returns a URL with its beginning replaced as git does: the longest beginning that matches wins.
pub(crate) fn rewritten(url: &str, settings: &[Setting]) -> Option<String> {
    let rules = settings.iter().filter(|setting| setting.is("url", "insteadOf"));
    let matching = rules.filter(|rule| !rule.value.is_empty() && url.starts_with(&rule.value));
    // Of equally long ones git takes the first.
    let longest = matching.reduce(
        |best, rule| {
            if rule.value.len() > best.value.len() { rule } else { best }
        },
    )?;
    Some(format!("{}{}", longest.subsection, url.strip_prefix(&longest.value)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_is_replaced() {
        let set = |base: &str, old: &str| {
            Setting::from_name(&format!("url.{base}.insteadOf"), old).unwrap()
        };
        let settings = [
            set("git@github.com:", "gh:"),
            set("git@github.com:acme/", "gh:a/"),
            set("https://x.example/", ""),
        ];
        let expected = Some("git@github.com:acme/api".to_owned());
        assert_eq!(rewritten("gh:acme/api", &settings), expected);
        assert_eq!(rewritten("gh:a/api", &settings), expected);
        assert_eq!(rewritten("https://github.com/acme/api", &settings), None);
    }
}
