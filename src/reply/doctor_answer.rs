//! What a check of everything around the logs found. Not here: the checks (`upkeep::doctor`).

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, TextView};
use guard::text::{Layout, neutralise};

/// What a check of everything around the logs found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorAnswer {
    /// Whether memories can be written and read, by nobody else.
    pub fine: bool,
    /// What was checked.
    pub checks: Vec<DoctorCheck>,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorCheck {
    /// What was checked.
    pub check: String,
    /// ok; warn where it works, but could work better; fail.
    pub state: String,
    /// What was found.
    pub says: String,
    /// The command that fixes it.
    pub mend: Option<String>,
}

impl Answer for DoctorAnswer {}

impl TextView for DoctorAnswer {
    fn text(&self) -> String {
        let mut text = String::new();
        for DoctorCheck { check, state, says, mend } in &self.checks {
            let level = if state == "fail" { "FAIL" } else { state.as_str() };
            let says = neutralise(says, Layout::Line);
            let _ = writeln!(text, "{level:<5} {check:<14} {says}");
            if let Some(command) = mend {
                let _ = writeln!(text, "      {:<14} fix: {command}", "");
            }
        }
        text.trim_end().to_owned()
    }
}
