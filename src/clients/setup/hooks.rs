//! Hooks in the form that each client needs, and how ours are recognised. Not here: which client has which events
//! (`clients`), and what a hook does.

use serde_json::{Map, Value, json};

use super::clients::{ClientEvent, HookForm, Timeout};
use super::edit::EditError;
use super::edit::json::{Json, JsonPath};
use super::locations::Machine;
use super::ownership::{self, NAME};

/// The member that holds the hooks of all events, and within a group its handlers.
const HOOKS: &str = "hooks";

/// Where a file has its lists of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListLocation {
    /// Below `hooks`, beside other settings.
    Below,
    /// At the top: the file holds nothing else.
    Top,
}

impl ListLocation {
    fn path(self, event: &str) -> Vec<&str> {
        match self {
            Self::Below => vec![HOOKS, event],
            Self::Top => vec![event],
        }
    }
}

/// The member for the version of the format, in files that have one.
const VERSION: &str = "version";

/// Our plugin for OpenCode. It names our program once.
const PLUGIN: &str = include_str!("../../../packages/opencode/agent-knowledge.js");

/// The place in the plugin where it names the program.
const PLUGIN_PROGRAM: &str = "|| \"agent-knowledge\"";

/// The first comment of our scripts, by which they are recognised.
const SCRIPT_NOTE: &str =
    "# Written by agent-knowledge setup; agent-knowledge setup --undo removes it.";

/// The desired hooks of a JSON file.
#[derive(Debug, Clone)]
pub(super) struct HookHandlers {
    /// The entry in the list of each event.
    wanted: Vec<(&'static str, Value)>,
    /// Whether the file holds the version of its format.
    versioned: bool,
    lists: ListLocation,
    /// The programs that count as ours: this one, and the one of an earlier setup.
    programs: Vec<String>,
}

impl HookHandlers {
    /// Returns the hooks of a client.
    pub(super) fn new(
        machine: &Machine<'_>,
        agent: &str,
        form: HookForm,
        events: &'static [ClientEvent],
    ) -> Self {
        let wanted = events.iter().map(|event| (event.name, handler(machine, agent, form, event)));
        let versioned = matches!(form, HookForm::Lines | HookForm::Shells);
        Self {
            wanted: wanted.collect(),
            versioned,
            lists: ListLocation::Below,
            programs: vec![machine.program_text()],
        }
    }

    /// The same for a file with its lists in another place.
    pub(super) fn with_list_location(self, lists: ListLocation) -> Self {
        Self { lists, ..self }
    }

    /// Recognises hooks of another program as ours too.
    pub(super) fn add_known_program(&mut self, program: String) {
        self.programs.push(program);
    }

    /// Adds our hooks, and removes older ones of ours.
    pub(super) fn add_to(&self, text: &str) -> Result<String, EditError> {
        let mut json = Json::parse(text)?;
        if self.versioned && json.get(&[VERSION]).is_none() {
            json.set(&[VERSION], &json!(1))?;
        }
        for event in self.events_in(&json) {
            let path = self.lists.path(&event);
            let wanted = self.wanted.iter().find(|(name, _)| *name == event);
            if !wanted
                .is_some_and(|(_, wanted)| has_only_our_hook(&json, &path, wanted, &self.programs))
            {
                take_event(&mut json, &path, &self.programs)?;
            }
        }
        for (event, wanted) in &self.wanted {
            let path = self.lists.path(event);
            if !has_only_our_hook(&json, &path, wanted, &self.programs) {
                json.push(&path, wanted)?;
            }
        }
        Ok(json.text())
    }

    /// Removes all our hooks, and empty lists that `original` does not have.
    pub(super) fn remove_from(
        &self,
        text: &str,
        original: Option<&str>,
    ) -> Result<String, EditError> {
        let mut json = Json::parse(text)?;
        let original = original.and_then(|text| Json::parse(text).ok());
        let was_there = |path: &[&str]| original.as_ref().is_some_and(|o| o.get(path).is_some());
        for event in self.events_in(&json) {
            let path = self.lists.path(&event);
            let had_ours = !ours_in(&json, &path, &self.programs).is_empty();
            take_event(&mut json, &path, &self.programs)?;
            if had_ours && json.get(&path) == Some(json!([])) && !was_there(&path) {
                json.remove(&path)?;
            }
        }
        if json.get(&[HOOKS]) == Some(json!({})) && !was_there(&[HOOKS]) {
            json.remove(&[HOOKS])?;
        }
        if self.versioned && json.value() == json!({ "version": 1 }) && !was_there(&[VERSION]) {
            json.remove(&[VERSION])?;
        }
        Ok(json.text())
    }

    /// Whether all hooks are there as desired.
    pub(super) fn is_in(&self, text: &str) -> Result<bool, EditError> {
        let json = Json::parse(text)?;
        let stands = |(event, wanted): &(&'static str, Value)| {
            has_only_our_hook(&json, &self.lists.path(event), wanted, &self.programs)
        };
        Ok(self.wanted.iter().all(stands))
    }

    /// The names of all lists in a file, ours or not.
    fn events_in(&self, json: &Json) -> Vec<String> {
        let all = match self.lists {
            ListLocation::Below => json.get(&[HOOKS]),
            ListLocation::Top => Some(json.value()),
        };
        match all {
            Some(Value::Object(events)) => events.keys().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// The names of the events.
    pub(super) fn events(&self) -> Vec<&'static str> {
        self.wanted.iter().map(|(event, _)| *event).collect()
    }
}

/// Returns the entry for the list of an event.
fn handler(machine: &Machine<'_>, agent: &str, form: HookForm, event: &ClientEvent) -> Value {
    let line = machine.hook_line(&format!("hook --agent {agent}"));
    let timed = |mut handler: Value, timeout: Timeout| {
        let time = match timeout {
            Timeout::Seconds(time) | Timeout::Millis(time) => Some(time),
            Timeout::Omitted => None,
        };
        if let (Some(time), Some(members)) = (time, handler.as_object_mut()) {
            members.insert("timeout".to_owned(), time.into());
        }
        handler
    };
    let group = |handler: Value| {
        let mut group = Map::new();
        if let Some(matcher) = event.matcher {
            group.insert("matcher".to_owned(), matcher.into());
        }
        group.insert(HOOKS.to_owned(), json!([handler]));
        Value::Object(group)
    };
    match form {
        HookForm::GroupsOfPrograms(timeout) => {
            let store = machine.store_text();
            let store = store.iter().flat_map(|store| [ownership::LOGS, store]);
            let args: Vec<&str> = ["hook", "--agent", agent].into_iter().chain(store).collect();
            let program = machine.program_text();
            group(timed(json!({ "type": "command", "command": program, "args": args }), timeout))
        }
        HookForm::GroupsOfLines(timeout) => {
            group(timed(json!({ "type": "command", "command": line }), timeout))
        }
        HookForm::Lines | HookForm::Plugin | HookForm::Scripts => json!({ "command": line }),
        HookForm::Shells => {
            let arguments = format!("hook --agent {agent} --event {}", event.name);
            // PowerShell runs a quoted path only after `&`.
            let word = |text: String| text.replace('\'', "''");
            let program = word(machine.program_text());
            let store = machine.store_text().map_or_else(String::new, |store| {
                format!(" {} '{}'", ownership::LOGS, word(store))
            });
            json!({
                "type": "command",
                "bash": machine.hook_line(&arguments),
                "powershell": format!("& '{program}' {arguments}{store}"),
                "timeoutSec": 5,
            })
        }
    }
}

/// The plugin with the path of our program.
pub(super) fn plugin_text(machine: &Machine<'_>) -> String {
    let program = Value::from(machine.program_text());
    PLUGIN.replacen(PLUGIN_PROGRAM, &format!("|| {program}"), 1)
}

/// The script for one event, for clients that run scripts.
pub(super) fn script_text(machine: &Machine<'_>, agent: &str, event: &str) -> String {
    let line = machine.hook_line(&format!("hook --agent {agent} --event {event}"));
    format!("#!/bin/sh\n{SCRIPT_NOTE}\n{line}\n")
}

/// Whether a whole file is as we write it, for any program. `ours` is what we would write now.
pub(super) fn is_our_file(text: &str, ours: &str) -> bool {
    let is_script = || {
        let line = text.strip_prefix("#!/bin/sh\n").and_then(|rest| rest.strip_prefix(SCRIPT_NOTE));
        let line = line.and_then(|rest| rest.strip_prefix('\n')?.strip_suffix('\n'));
        line.is_some_and(|line| !line.contains('\n') && is_line_of_ours(line, &[]))
    };
    let plugin = PLUGIN_PROGRAM.trim_start_matches("|| ");
    text == ours || is_script() || ownership::differs_only_in_word(text, PLUGIN, plugin)
}

/// Returns the entries of a list that contain our hooks.
fn ours_in(json: &Json, list: JsonPath<'_>, programs: &[String]) -> Vec<Value> {
    match json.get(list) {
        Some(Value::Array(listed)) => {
            listed.into_iter().filter(|e| has_ours(e, programs)).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a list contains exactly this hook of ours.
fn has_only_our_hook(json: &Json, list: JsonPath<'_>, wanted: &Value, programs: &[String]) -> bool {
    ours_in(json, list, programs) == [wanted.clone()]
}

/// Removes our hooks from a list, also from groups that contain other hooks.
fn take_event(json: &mut Json, list: JsonPath<'_>, programs: &[String]) -> Result<(), EditError> {
    json.remove_elements(list, &|e| is_all_ours(e, programs))?;
    let Some(Value::Array(listed)) = json.get(list) else { return Ok(()) };
    for place in 0..listed.len() {
        let place = place.to_string();
        let group = [list, &[&place, HOOKS]].concat();
        json.remove_elements(&group, &|e| is_handler_of_ours(e, programs))?;
    }
    Ok(())
}

/// Whether a handler runs our hook and nothing else.
fn is_handler_of_ours(handler: &Value, programs: &[String]) -> bool {
    let word = |name: &str| handler.get(name).and_then(Value::as_str);
    if let Some(args) =
        handler.get("args").and_then(Value::as_array).filter(|args| !args.is_empty())
    {
        let args: Vec<&str> = args.iter().map(|arg| arg.as_str().unwrap_or_default()).collect();
        return is_program(word("command").unwrap_or_default(), programs) && is_hook(&args);
    }
    let mut lines =
        ["command", "bash", "powershell"].iter().filter_map(|name| word(name)).peekable();
    lines.peek().is_some() && lines.all(|line| is_line_of_ours(line, programs))
}

/// Whether a shell line runs our hook, as we write it, and nothing else.
fn is_line_of_ours(line: &str, programs: &[String]) -> bool {
    let Some(at) = line.rfind(" hook --agent ") else { return false };
    let (program, rest) = line.split_at(at);
    let rest = rest.trim_end_matches(" || exit 0");
    let (rest, store) =
        rest.split_once(" --logs ").map_or((rest, None), |(rest, store)| (rest, Some(store)));
    if store.is_some_and(|store| unquoted(store).is_none()) {
        return false;
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    let program = program.strip_prefix("& ").unwrap_or(program);
    let word = unquoted(program);
    word.is_some_and(|word| is_program(&word, programs)) && is_hook(&words)
}

/// Returns the single word that a shell reads from a text; none if it would read several.
fn unquoted(text: &str) -> Option<String> {
    let inner = |quote| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if let Some(inner) = inner('\'') {
        let word = inner.replace(r"'\''", "\u{0}").replace("''", "\u{0}");
        return (!word.contains('\'')).then(|| word.replace('\u{0}', "'"));
    }
    let word = inner('"').or_else(|| (!text.contains(char::is_whitespace)).then_some(text))?;
    (!word.contains(['"', '\'', ';', '&', '|'])).then(|| word.to_owned())
}

fn is_program(program: &str, programs: &[String]) -> bool {
    let file = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.strip_suffix(".exe").unwrap_or(file);
    stem == NAME || programs.iter().any(|known| known == program)
}

/// Whether these are the arguments of our hooks.
fn is_hook(words: &[&str]) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    };
    match words {
        ["hook", "--agent", agent] | ["hook", "--agent", agent, ownership::LOGS, _] => {
            is_name(agent)
        }
        ["hook", "--agent", agent, "--event", event] => is_name(agent) && is_name(event),
        _ => false,
    }
}

fn handlers_of(element: &Value) -> Option<&Vec<Value>> {
    element.get(HOOKS).and_then(Value::as_array)
}

/// Whether an element is a handler of ours, or a group that contains one.
fn has_ours(element: &Value, programs: &[String]) -> bool {
    match handlers_of(element) {
        Some(handlers) => handlers.iter().any(|h| is_handler_of_ours(h, programs)),
        None => is_handler_of_ours(element, programs),
    }
}

fn is_all_ours(element: &Value, programs: &[String]) -> bool {
    match handlers_of(element) {
        Some(handlers) => {
            !handlers.is_empty() && handlers.iter().all(|h| is_handler_of_ours(h, programs))
        }
        None => is_handler_of_ours(element, programs),
    }
}

#[cfg(test)]
mod tests {
    use super::super::locations::Platform;
    use super::*;

    const EVENTS: &[ClientEvent] =
        &[ClientEvent::new("Start"), ClientEvent::matching("After", "Bash")];
    const GROUPS: HookForm = HookForm::GroupsOfLines(Timeout::Seconds(5));

    fn machine(program: &str, platform: Platform) -> Machine<'static> {
        Machine {
            platform,
            home: "/h".into(),
            project: "/p".into(),
            folders: Vec::new(),
            program: program.into(),
            store: None,
            lookup: &|_| None,
        }
    }

    fn handlers(program: &str, form: HookForm) -> HookHandlers {
        HookHandlers::new(&machine(program, Platform::Linux), "codex", form, EVENTS)
    }

    // S-SETUP-2
    #[test]
    fn hooks_are_added_once_and_replace_older_ones() {
        for form in [GROUPS, HookForm::Lines, HookForm::GroupsOfPrograms(Timeout::Omitted)] {
            let (old, new) =
                (handlers("/old/agent-knowledge", form), handlers("/new/agent-knowledge", form));
            let text = old.add_to("").unwrap();
            assert!(old.is_in(&text).unwrap() && !new.is_in(&text).unwrap(), "{text}");
            let text = new.add_to(&text).unwrap();
            assert!(new.is_in(&text).unwrap() && !text.contains("/old"), "{text}");
            assert_eq!(new.add_to(&text).unwrap(), text);
            assert_eq!(new.remove_from(&text, None).unwrap(), "{}\n");
        }
    }

    // S-SETUP-3
    #[test]
    fn other_hooks_stay_also_in_a_group_with_ours() {
        let theirs = "{\n  \"hooks\": {\n    \"Start\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]}\n    ],\n    \"Other\": []\n  }\n}\n";
        let ours = handlers("/bin/agent-knowledge", GROUPS);
        let after = ours.add_to(theirs).unwrap();
        assert!(after.contains("lint"));
        assert_eq!(ours.remove_from(&after, Some(theirs)).unwrap(), theirs);
        let mixed = theirs.replace(
            "\"command\": \"lint\"}",
            "\"command\": \"lint\"}, {\"command\": \"/x/agent-knowledge hook --agent codex\"}",
        );
        assert_eq!(ours.remove_from(&mixed, Some(theirs)).unwrap(), theirs);
    }

    #[test]
    fn lists_may_be_at_the_top() {
        let theirs = "{\n  \"Start\": [],\n  \"note\": 1\n}\n";
        let ours = handlers("/bin/agent-knowledge", GROUPS).with_list_location(ListLocation::Top);
        let after = ours.add_to(theirs).unwrap();
        let json = Json::parse(&after).unwrap();
        assert_eq!(json.get(&["After"]).unwrap().as_array().unwrap().len(), 1);
        assert!(ours.is_in(&after).unwrap() && json.get(&[HOOKS]).is_none(), "{after}");
        assert_eq!(ours.remove_from(&after, Some(theirs)).unwrap(), theirs);
    }

    #[test]
    fn a_hook_is_written_as_its_client_starts_it() {
        let form = HookForm::Shells;
        let windows = machine(r"C:\Program Files\agent-knowledge.exe", Platform::Windows);
        let ours = HookHandlers::new(&windows, "copilot", form, EVENTS);
        let (_, handler) = &ours.wanted[0];
        assert_eq!(
            handler["powershell"],
            r"& 'C:\Program Files\agent-knowledge.exe' hook --agent copilot --event Start"
        );
        let exec = HookHandlers::new(
            &windows,
            "x",
            HookForm::GroupsOfPrograms(Timeout::Seconds(5)),
            EVENTS,
        );
        let (_, group) = &exec.wanted[1];
        assert_eq!(
            *group,
            json!({ "matcher": "Bash", "hooks": [{
                "type": "command",
                "command": r"C:\Program Files\agent-knowledge.exe",
                "args": ["hook", "--agent", "x"],
                "timeout": 5,
            }] })
        );
    }

    #[test]
    fn our_own_files_name_the_program_and_are_recognised() {
        let machine = machine("/my \"bin\"/agent-knowledge", Platform::Linux);
        let plugin = plugin_text(&machine);
        assert!(plugin.contains(r#"|| "/my \"bin\"/agent-knowledge""#), "{plugin}");
        let script = script_text(&machine, "cline", "TaskStart");
        assert!(script.ends_with(
            "\n'/my \"bin\"/agent-knowledge' hook --agent cline --event TaskStart || exit 0\n"
        ));
        assert!(is_our_file(&plugin, "") && is_our_file(&script, "") && is_our_file(PLUGIN, ""));
        for theirs in [
            "#!/bin/sh\nmine\n".to_owned(),
            format!("{script}mine\n"),
            format!("{plugin}// mine\n"),
            script.replace(" || exit 0", "; mine"),
        ] {
            assert!(!is_our_file(&theirs, &script), "{theirs}");
        }
    }

    // S-SETUP-3
    #[test]
    fn a_hook_is_ours_if_it_starts_only_our_program() {
        for (line, ours) in [
            ("/x/agent-knowledge hook --agent codex || exit 0", true),
            ("'/my bin/it'\\''s/agent-knowledge' hook --agent codex --event Stop", true),
            (r#""C:\a b\agent-knowledge.exe" hook --agent codex"#, true),
            (r"& 'C:\a b\agent-knowledge.exe' hook --agent copilot --event Start", true),
            ("/opt/ak hook --agent codex", true),
            ("/other/ak hook --agent codex", false),
            ("lint && agent-knowledge hook --agent codex", false),
            ("agent-knowledge hook --agent codex | tee log", false),
            ("agent-knowledge hook --agent codex; mine", false),
            ("my-agent-knowledge hook --agent codex", false),
            ("/agent-knowledge/mine hook --agent codex", false),
        ] {
            assert_eq!(is_line_of_ours(line, &["/opt/ak".to_owned()]), ours, "{line}");
        }
        let exec = |args: Value| json!({ "command": "/x/agent-knowledge", "args": args });
        assert!(is_handler_of_ours(&exec(json!(["hook", "--agent", "x"])), &[]));
        assert!(!is_handler_of_ours(&exec(json!(["hook", "--agent", "x", "--mine"])), &[]));
    }
}
