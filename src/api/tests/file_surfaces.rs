//! Every place where somebody names a file, from the code: a new one must be added here, and read as S-PATH-1 says. Not here: how a path
//! is read (`place`), the programs (`tests/integration/right_file`).

use std::collections::BTreeSet;

use requests::verbs::VERBS;
use writer::field_flags::FLAGS;

/// The parameters that name files, by the verb; each is read by `Local::asked_files`, `Local::kept_path` or the writer.
const SURFACES: [&str; 13] = [
    "browse files",
    "context files",
    "impact file",
    "link source",
    "link target",
    "log-memory --file",
    "related file",
    "related id",
    "save files",
    "search files",
    "search query",
    "unlink source",
    "unlink target",
];

// S-PATH-1
#[test]
fn every_parameter_that_names_a_file_is_known() {
    let mut found = BTreeSet::new();
    for verb in VERBS {
        let of_tool = verb.tool.iter().flat_map(|tool| (tool.parameters)());
        for parameter in (verb.parameters)().into_iter().chain(of_tool) {
            let text = parameter.text.to_ascii_lowercase();
            let is_about_files = text.contains("file") || text.contains("path");
            if parameter.name != "repo" && is_about_files || parameter.name.contains("file") {
                found.insert(format!("{} {}", verb.name, parameter.name));
            }
        }
    }
    for flag in FLAGS.iter().filter(|flag| flag.field.contains("file")) {
        found.insert(format!("log-memory --{}", flag.long));
    }
    let expected: BTreeSet<String> = SURFACES.iter().map(|&surface| surface.to_owned()).collect();
    assert_eq!(found, expected, "read the new one as S-PATH-1 says, and name it here");
}

/// The parameters that name folders of a repository, by the verb; each is read by `Local::asked_folders` or the writer. What saves is tested in
/// `tests/integration/right_package`, gRPC and hooks beside their own tests.
const FOLDER_SURFACES: [&str; 8] = [
    "browse folders",
    "context folder",
    "export folders",
    "log-memory --folder",
    "review folders",
    "save folder",
    "search folders",
    "stale folders",
];

// S-PATH-5, S-FIND-1
#[test]
fn every_parameter_that_names_a_folder_is_known() {
    let mut found = BTreeSet::new();
    for verb in VERBS {
        let of_tool = verb.tool.iter().flat_map(|tool| (tool.parameters)());
        let parameters = (verb.parameters)().into_iter().chain(of_tool);
        let folders = parameters.filter(|parameter| parameter.name.contains("folder"));
        found.extend(folders.map(|parameter| format!("{} {}", verb.name, parameter.name)));
    }
    for flag in FLAGS.iter().filter(|flag| flag.field.contains("folder")) {
        found.insert(format!("log-memory --{}", flag.long));
    }
    let expected: BTreeSet<String> =
        FOLDER_SURFACES.iter().map(|&surface| surface.to_owned()).collect();
    assert_eq!(found, expected, "read the new one as S-PATH-5 says, and name it here");
}
