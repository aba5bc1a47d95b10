//! Reads what names packages out of texts, as far as people write it so: lists of YAML, sections of TOML, calls of Gradle, lines of Go,
//! tags of Maven. Not here: what is done with it (`workspace_file`).

/// Returns the list of a key at the top of a YAML file, in either form. `None` where the key is absent.
pub(crate) fn yaml_list(text: &str, key: &str) -> Option<Vec<String>> {
    let mut lines = text.lines().map(|line| without_note(line, '#')).skip_while(|line| {
        let name = line.split(':').next().unwrap_or_default();
        name.trim_matches(['"', '\'']) != key
    });
    let (_, rest) = lines.next()?.split_once(':')?;
    if let Some(flow) = rest.trim().strip_prefix('[') {
        let whole = std::iter::once(flow.to_owned())
            .chain(lines.map(str::to_owned))
            .collect::<Vec<_>>()
            .join(" ");
        let (inner, _) = whole.split_once(']')?;
        return Some(inner.split(',').map(plain_scalar).filter(|item| !item.is_empty()).collect());
    }
    let items = lines
        .filter(|line| !line.trim().is_empty())
        .map_while(|line| line.trim_start().strip_prefix('-'));
    Some(items.map(plain_scalar).filter(|item| !item.is_empty()).collect())
}

fn plain_scalar(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).to_owned()
}

/// Returns a line without the comment at its end; a sign in quotes begins none.
fn without_note(line: &str, sign: char) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c == sign && before.is_whitespace() => {
                return line.get(..at).unwrap_or_default().trim_end();
            }
            None => {}
        }
        before = c;
    }
    line.trim_end()
}

/// Returns a table of a TOML file. Only its own section is parsed, since the rest of a manifest may be long, unless the table stands
/// in another form.
pub(crate) fn toml_section(text: &str, name: &str) -> Option<toml::Table> {
    let is_header = |line: &str| {
        let inner = without_note(line.trim(), '#')
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'));
        inner.is_some_and(|inner| inner.split('.').map(str::trim).eq(name.split('.')))
    };
    let last = name.rsplit('.').next().unwrap_or(name);
    if !text.contains(last) {
        return None;
    }
    let mut lines = text.lines().skip_while(|line| !is_header(line));
    if lines.next().is_some() {
        let own = lines.take_while(|line| !line.starts_with('[')).collect::<Vec<_>>().join("\n");
        if let Ok(table) = own.parse() {
            return Some(table);
        }
    }
    let mut value = toml::Value::Table(text.parse().ok()?);
    for part in name.split('.') {
        value = value.as_table_mut()?.remove(part)?;
    }
    value.as_table().cloned()
}

/// Returns every `path = "…"` of a manifest of Cargo. What a patch names is no member by that.
pub(crate) fn path_values(text: &str) -> Vec<String> {
    let mut is_patch = false;
    let lines = text.lines().map(|line| without_note(line, '#')).filter(|line| {
        if let Some(header) = line.strip_prefix('[') {
            is_patch = ["patch.", "patch]", "replace]"].iter().any(|name| header.starts_with(name));
        }
        !is_patch
    });
    let values = lines.flat_map(|line| line.match_indices("path").map(move |(at, _)| (line, at)));
    let values = values.filter_map(|(line, at)| {
        let before = line.get(..at)?.trim_end();
        let is_key = before.is_empty() || before.ends_with(['{', ',', '.']);
        let value = line.get(at + "path".len()..)?.trim_start().strip_prefix('=')?.trim_start();
        is_key.then(|| first_quoted(value))?
    });
    values.map(str::to_owned).collect()
}

/// Returns the text between the first quotes, where a text begins with them.
fn first_quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text.get(1..)?.split(quote).next()
}

/// Returns every value of a name in JSON: `"name": "value"`.
pub(crate) fn quoted_values(text: &str, name: &str) -> Vec<String> {
    let quoted = format!("\"{name}\"");
    let after = text.split(quoted.as_str()).skip(1);
    let values =
        after.filter_map(|rest| first_quoted(rest.trim_start().strip_prefix(':')?.trim_start()));
    values.map(str::to_owned).collect()
}

/// Returns a text without comments in the form of C; what stands in quotes is kept.
pub(crate) fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let mut quote = None;
    while let Some(c) = rest.chars().next() {
        let is_comment = quote.is_none() && (rest.starts_with("//") || rest.starts_with("/*"));
        if is_comment {
            let end = if rest.starts_with("//") { "\n" } else { "*/" };
            let length = rest.get(2..).and_then(|inner| inner.find(end)).map(|at| at + 2);
            let skipped = length.map_or(rest.len(), |at| if end == "\n" { at } else { at + 2 });
            rest = rest.get(skipped..).unwrap_or_default();
            continue;
        }
        let escaped = if c == '\\' && quote.is_some() { rest.chars().nth(1) } else { None };
        quote = match quote {
            _ if escaped.is_some() => quote,
            Some(open) if c == open || c == '\n' => None,
            None if matches!(c, '"' | '\'') => Some(c),
            other => other,
        };
        let length = c.len_utf8() + escaped.map_or(0, char::len_utf8);
        kept.push_str(rest.get(..length).unwrap_or_default());
        rest = rest.get(length..).unwrap_or_default();
    }
    kept
}

/// Returns the folders that a `go.work` uses.
pub(crate) fn go_uses(text: &str) -> Vec<String> {
    let text = without_comments(text);
    let mut folders = Vec::new();
    let mut is_in_block = false;
    for line in text.lines().map(str::trim) {
        let used = line
            .strip_prefix("use")
            .filter(|rest| rest.starts_with([' ', '\t', '(']))
            .map(str::trim);
        match used {
            Some(rest) if rest.starts_with('(') => {
                is_in_block = !rest.contains(')');
                let inner = rest.trim_matches(['(', ')']).trim();
                folders.extend(inner.split_whitespace().map(plain_go_path));
            }
            Some(rest) => folders.push(plain_go_path(rest)),
            None if is_in_block && line.starts_with(')') => is_in_block = false,
            None if is_in_block && !line.is_empty() => folders.push(plain_go_path(line)),
            None => {}
        }
    }
    folders
}

fn plain_go_path(text: &str) -> String {
    text.trim().trim_matches(['"', '`']).to_owned()
}

/// Returns the folders of the projects that the settings of Gradle include.
pub(crate) fn gradle_projects(text: &str) -> Vec<String> {
    let text = without_comments(text);
    let moved = moved_projects(&text);
    let mut folders = Vec::new();
    for (is_build, words) in included(&text) {
        for word in words {
            let own = || word.trim_start_matches(':').replace(':', "/");
            let name = word.trim_start_matches(':');
            let moved = moved.iter().find(|(project, _)| project.trim_start_matches(':') == name);
            let folder = match moved {
                _ if is_build => word.to_owned(),
                Some((_, folder)) => (*folder).to_owned(),
                None => own(),
            };
            folders.push(folder);
        }
    }
    folders
}

/// The arguments of each `include` and `includeBuild`, and whether it is the latter.
fn included(text: &str) -> Vec<(bool, Vec<&str>)> {
    let calls = text.match_indices("include").filter(|(at, _)| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '_' | '.')))
    });
    let arguments = calls.filter_map(|(at, word)| {
        let rest = text.get(at + word.len()..)?;
        let build = rest.strip_prefix("Build");
        let rest = build.unwrap_or(rest);
        rest.starts_with([' ', '\t', '(']).then(|| (build.is_some(), quoted_words(rest)))
    });
    arguments.collect()
}

/// The quoted words at the start of a text, with commas and white space between them.
fn quoted_words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start().trim_start_matches('(').trim_start();
    while let Some(word) = first_quoted(rest) {
        words.push(word);
        let after = rest.get(word.len() + 2..).unwrap_or_default().trim_start();
        let Some(next) = after.strip_prefix(',') else { break };
        rest = next.trim_start();
    }
    words
}

/// The projects whose folder is set: `project(':web').projectDir = file('apps/web')`.
fn moved_projects(text: &str) -> Vec<(&str, &str)> {
    let lines = text.lines().filter(|line| line.contains("projectDir"));
    let moved = lines.filter_map(|line| {
        let (project, folder) = line.split_once("projectDir")?;
        let project = quoted_words(project.get(project.find('(')?..)?).first().copied()?;
        let quoted = folder.split(['"', '\'']).collect::<Vec<_>>();
        let folder = quoted.iter().rev().nth(1)?;
        let folder = folder.trim_start_matches("$rootDir/").trim_start_matches("${rootDir}/");
        Some((project, folder.trim_start_matches("./")))
    });
    moved.collect()
}

/// Returns the folders of the modules of a `pom.xml`; `None` where it has none. Maven 4 calls them subprojects.
pub(crate) fn maven_modules(text: &str) -> Option<Vec<String>> {
    let text = without_xml_comments(text);
    let lists = [("modules", "module"), ("subprojects", "subproject")];
    let modules = lists.iter().flat_map(|(list, module)| {
        elements(&text, list).into_iter().flat_map(move |list| elements(list, module))
    });
    let modules: Vec<String> = modules.map(|module| module.trim().to_owned()).collect();
    (!modules.is_empty()).then_some(modules)
}

/// Returns the contents of the elements with a name that has no attributes.
fn elements<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let after = text.split(open.as_str()).skip(1);
    after.filter_map(|rest| rest.split_once(close.as_str())).map(|(inner, _)| inner).collect()
}

/// Returns a text without comments in the form of XML; one without an end goes on to the end of the text.
fn without_xml_comments(text: &str) -> String {
    let mut pieces = text.split("<!--");
    let first = pieces.next().unwrap_or_default();
    let kept = pieces.filter_map(|piece| Some(piece.split_once("-->")?.1));
    std::iter::once(first).chain(kept).collect()
}
