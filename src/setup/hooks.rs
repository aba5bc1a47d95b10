//! Hooks as each client wants them named, and how ours are known again. Not here: which client has which
//! events (`clients`), and what a hook does.

use serde_json::{Map, Value, json};

use super::clients::{Event, HookForm, Timeout};
use super::edit::Wrong;
use super::edit::json::{Json, Path};
use super::places::Ground;
use super::server::NAME;

/// The member that holds the hooks of all events, and in a group its handlers.
const HOOKS: &str = "hooks";

/// Where the lists of events stand in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lists {
    /// Below `hooks`, beside other settings.
    Below,
    /// At the top: the file holds nothing else.
    Top,
}

impl Lists {
    fn path(self, event: &str) -> Vec<&str> {
        match self {
            Self::Below => vec![HOOKS, event],
            Self::Top => vec![event],
        }
    }
}

/// The version of the form of hook files that have one.
const VERSION: &str = "version";

/// Our plugin for OpenCode; it names our program once.
const PLUGIN: &str = include_str!("../../packages/opencode/agent-knowledge.js");

/// How the plugin names it.
const PLUGIN_PROGRAM: &str = "|| \"agent-knowledge\"";

/// How a script of ours begins, so that it is known again.
const SCRIPT_NOTE: &str =
    "# Written by agent-knowledge setup; agent-knowledge setup --undo removes it.";

/// Hooks that shall be in a file of JSON.
#[derive(Debug, Clone)]
pub(super) struct Handlers {
    /// For each event what stands in its list.
    wanted: Vec<(&'static str, Value)>,
    /// Whether the file tells the version of its form.
    versioned: bool,
    lists: Lists,
}

impl Handlers {
    /// Makes those of a client.
    pub(super) fn new(
        ground: &Ground<'_>,
        agent: &str,
        form: HookForm,
        events: &'static [Event],
    ) -> Self {
        let wanted = events.iter().map(|event| (event.name, handler(ground, agent, form, event)));
        let versioned = matches!(form, HookForm::Lines | HookForm::Shells);
        Self { wanted: wanted.collect(), versioned, lists: Lists::Below }
    }

    /// The same for a file that has the lists elsewhere.
    pub(super) fn standing(self, lists: Lists) -> Self {
        Self { lists, ..self }
    }

    /// Puts them there, and takes out older ones of ours.
    pub(super) fn put(&self, text: &str) -> Result<String, Wrong> {
        let mut json = Json::parse(text)?;
        if self.versioned && json.get(&[VERSION]).is_none() {
            json.set(&[VERSION], &json!(1))?;
        }
        for event in self.events_in(&json) {
            let path = self.lists.path(&event);
            let wanted = self.wanted.iter().find(|(name, _)| *name == event);
            if !wanted.is_some_and(|(_, wanted)| has_only(&json, &path, wanted)) {
                take_event(&mut json, &path)?;
            }
        }
        for (event, wanted) in &self.wanted {
            let path = self.lists.path(event);
            if !has_only(&json, &path, wanted) {
                json.push(&path, wanted)?;
            }
        }
        Ok(json.text().to_owned())
    }

    /// Takes all hooks of ours out, and what is empty then and was not there in `original`.
    pub(super) fn take(&self, text: &str, original: Option<&str>) -> Result<String, Wrong> {
        let mut json = Json::parse(text)?;
        let original = original.and_then(|text| Json::parse(text).ok());
        let was_there = |path: &[&str]| original.as_ref().is_some_and(|o| o.get(path).is_some());
        for event in self.events_in(&json) {
            let path = self.lists.path(&event);
            let had_ours = !ours_in(&json, &path).is_empty();
            take_event(&mut json, &path)?;
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
        Ok(json.text().to_owned())
    }

    /// Whether all of them are there as they shall be.
    pub(super) fn stands(&self, text: &str) -> Result<bool, Wrong> {
        let json = Json::parse(text)?;
        let stands = |(event, wanted): &(&'static str, Value)| {
            has_only(&json, &self.lists.path(event), wanted)
        };
        Ok(self.wanted.iter().all(stands))
    }

    /// The names of all lists in a file, ours or not.
    fn events_in(&self, json: &Json) -> Vec<String> {
        let all = match self.lists {
            Lists::Below => json.get(&[HOOKS]),
            Lists::Top => Some(json.value()),
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

/// What stands in an event's list.
fn handler(ground: &Ground<'_>, agent: &str, form: HookForm, event: &Event) -> Value {
    let line = ground.command_line(&format!("hook --agent {agent}"));
    let timed = |mut handler: Value, timeout: Timeout| {
        let time = match timeout {
            Timeout::Seconds(time) | Timeout::Millis(time) => Some(time),
            Timeout::Unsaid => None,
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
            let args = ["hook", "--agent", agent];
            let program = ground.program_text();
            group(timed(json!({ "type": "command", "command": program, "args": args }), timeout))
        }
        HookForm::GroupsOfLines(timeout) => {
            group(timed(json!({ "type": "command", "command": line }), timeout))
        }
        HookForm::Lines | HookForm::Plugin | HookForm::Scripts => json!({ "command": line }),
        HookForm::Shells => {
            let arguments = format!("hook --agent {agent} --event {}", event.name);
            // PowerShell starts what stands in quotes only when told so.
            let program = ground.program_text().replace('\'', "''");
            json!({
                "type": "command",
                "bash": ground.command_line(&arguments),
                "powershell": format!("& '{program}' {arguments}"),
                "timeoutSec": 5,
            })
        }
    }
}

/// The plugin, naming our program by its path.
pub(super) fn plugin(ground: &Ground<'_>) -> String {
    let program = Value::from(ground.program_text());
    PLUGIN.replacen(PLUGIN_PROGRAM, &format!("|| {program}"), 1)
}

/// A script for one event of a client that has scripts.
pub(super) fn script(ground: &Ground<'_>, agent: &str, event: &str) -> String {
    let line = ground.command_line(&format!("hook --agent {agent} --event {event}"));
    format!("#!/bin/sh\n{SCRIPT_NOTE}\n{line}\n")
}

/// Whether a whole file is one of ours, perhaps of an older version.
pub(super) fn is_our_file(text: &str) -> bool {
    let is_plugin = text.contains(NAME) && text.contains("AGENT_KNOWLEDGE_HOOKS");
    let is_script = text.contains(SCRIPT_NOTE);
    is_plugin || is_script || text.starts_with(&format!("name: {NAME}\n"))
}

/// Those of a list that have ours in them.
fn ours_in(json: &Json, list: Path<'_>) -> Vec<Value> {
    match json.get(list) {
        Some(Value::Array(listed)) => listed.into_iter().filter(has_ours).collect(),
        _ => Vec::new(),
    }
}

/// Whether of all of ours just this one stands in a list.
fn has_only(json: &Json, list: Path<'_>, wanted: &Value) -> bool {
    ours_in(json, list) == [wanted.clone()]
}

/// Takes ours out of a list, also where others stand in one group with it.
fn take_event(json: &mut Json, list: Path<'_>) -> Result<(), Wrong> {
    json.remove_elements(list, &is_all_ours)?;
    let Some(Value::Array(listed)) = json.get(list) else { return Ok(()) };
    for place in 0..listed.len() {
        let place = place.to_string();
        let group = [list, &[&place, HOOKS]].concat();
        json.remove_elements(&group, &is_handler_of_ours)?;
    }
    Ok(())
}

/// Whether a handler starts us.
fn is_handler_of_ours(handler: &Value) -> bool {
    let word = |name: &str| handler.get(name).and_then(Value::as_str).unwrap_or_default();
    let args = handler.get("args").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let args: Vec<&str> = args.iter().filter_map(Value::as_str).collect();
    let line = [word("command"), word("bash"), word("powershell"), &args.join(" ")].join(" ");
    line.contains(NAME) && line.contains("hook --agent")
}

fn handlers_of(element: &Value) -> Option<&Vec<Value>> {
    element.get(HOOKS).and_then(Value::as_array)
}

/// Whether an element is a handler of ours, or a group with one in it.
fn has_ours(element: &Value) -> bool {
    match handlers_of(element) {
        Some(handlers) => handlers.iter().any(is_handler_of_ours),
        None => is_handler_of_ours(element),
    }
}

fn is_all_ours(element: &Value) -> bool {
    match handlers_of(element) {
        Some(handlers) => !handlers.is_empty() && handlers.iter().all(is_handler_of_ours),
        None => is_handler_of_ours(element),
    }
}

#[cfg(test)]
mod tests {
    use super::super::places::Platform;
    use super::*;

    const EVENTS: &[Event] = &[Event::of("Start"), Event::matching("After", "Bash")];
    const GROUPS: HookForm = HookForm::GroupsOfLines(Timeout::Seconds(5));

    fn ground(program: &str, platform: Platform) -> Ground<'static> {
        Ground {
            platform,
            home: "/h".into(),
            project: "/p".into(),
            folders: Vec::new(),
            program: program.into(),
            lookup: &|_| None,
        }
    }

    fn handlers(program: &str, form: HookForm) -> Handlers {
        Handlers::new(&ground(program, Platform::Linux), "codex", form, EVENTS)
    }

    // S-SETUP-2
    #[test]
    fn hooks_are_added_once_and_older_ones_of_ours_give_way() {
        for form in [GROUPS, HookForm::Lines, HookForm::GroupsOfPrograms(Timeout::Unsaid)] {
            let (old, new) =
                (handlers("/old/agent-knowledge", form), handlers("/new/agent-knowledge", form));
            let text = old.put("").unwrap();
            assert!(old.stands(&text).unwrap() && !new.stands(&text).unwrap(), "{text}");
            let text = new.put(&text).unwrap();
            assert!(new.stands(&text).unwrap() && !text.contains("/old"), "{text}");
            assert_eq!(new.put(&text).unwrap(), text);
            assert_eq!(new.take(&text, None).unwrap(), "{}\n");
        }
    }

    // S-SETUP-3
    #[test]
    fn hooks_of_others_stay_also_in_one_group_with_ours() {
        let theirs = "{\n  \"hooks\": {\n    \"Start\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]}\n    ],\n    \"Other\": []\n  }\n}\n";
        let ours = handlers("/bin/agent-knowledge", GROUPS);
        let after = ours.put(theirs).unwrap();
        assert!(after.contains("lint"));
        assert_eq!(ours.take(&after, Some(theirs)).unwrap(), theirs);
        let mixed = theirs.replace(
            "\"command\": \"lint\"}",
            "\"command\": \"lint\"}, {\"command\": \"/x/agent-knowledge hook --agent codex\"}",
        );
        assert_eq!(ours.take(&mixed, Some(theirs)).unwrap(), theirs);
    }

    #[test]
    fn lists_may_stand_at_the_top() {
        let theirs = "{\n  \"Start\": [],\n  \"note\": 1\n}\n";
        let ours = handlers("/bin/agent-knowledge", GROUPS).standing(Lists::Top);
        let after = ours.put(theirs).unwrap();
        let json = Json::parse(&after).unwrap();
        assert_eq!(json.get(&["After"]).unwrap().as_array().unwrap().len(), 1);
        assert!(ours.stands(&after).unwrap() && json.get(&[HOOKS]).is_none(), "{after}");
        assert_eq!(ours.take(&after, Some(theirs)).unwrap(), theirs);
    }

    #[test]
    fn a_hook_is_written_as_its_client_starts_it() {
        let form = HookForm::Shells;
        let windows = ground(r"C:\Program Files\agent-knowledge.exe", Platform::Windows);
        let ours = Handlers::new(&windows, "copilot", form, EVENTS);
        let (_, handler) = &ours.wanted[0];
        assert_eq!(
            handler["powershell"],
            r"& 'C:\Program Files\agent-knowledge.exe' hook --agent copilot --event Start"
        );
        let exec =
            Handlers::new(&windows, "x", HookForm::GroupsOfPrograms(Timeout::Seconds(5)), EVENTS);
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
    fn files_of_our_own_name_the_program_and_are_known_again() {
        let ground = ground("/my \"bin\"/agent-knowledge", Platform::Linux);
        let plugin = plugin(&ground);
        assert!(plugin.contains(r#"|| "/my \"bin\"/agent-knowledge""#), "{plugin}");
        let script = script(&ground, "cline", "TaskStart");
        assert!(script.ends_with(
            "\n'/my \"bin\"/agent-knowledge' hook --agent cline --event TaskStart || exit 0\n"
        ));
        assert!(is_our_file(&plugin) && is_our_file(&script) && !is_our_file("#!/bin/sh\nmine\n"));
    }
}
