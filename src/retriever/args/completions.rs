//! The `completions` command, as clap parses it, and the scripts, which clap makes. Names of memories and repositories are
//! not completed: the scripts are static. Not here: printing them (`cli`).

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;

use super::{OutputFormat, help};

const COMPLETIONS_HELP: &str = "\
bash, with bash-completion:
  mkdir -p ~/.local/share/bash-completion/completions &&
    agent-knowledge completions bash > ~/.local/share/bash-completion/completions/agent-knowledge

zsh, with fpath=(~/.zfunc $fpath) before compinit in ~/.zshrc:
  mkdir -p ~/.zfunc && agent-knowledge completions zsh > ~/.zfunc/_agent-knowledge

fish:
  mkdir -p ~/.config/fish/completions &&
    agent-knowledge completions fish > ~/.config/fish/completions/agent-knowledge.fish

powershell:
  agent-knowledge completions powershell >> $PROFILE";

/// The `completions` command.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL", value_parser = PossibleValuesParser::new(["bash", "zsh", "fish", "powershell"]))]
    pub shell: String,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

impl Completions {
    /// Returns the script of the shell.
    #[must_use]
    pub fn script(&self) -> String {
        let shell = match self.shell.as_str() {
            "zsh" => Shell::Zsh,
            "fish" => Shell::Fish,
            "powershell" => Shell::PowerShell,
            _ => Shell::Bash,
        };
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut help::command(), "agent-knowledge", &mut script);
        // For bash, clap_complete 4.6 spells the hyphen of our name in two ways (clap-rs/clap#6421), so that no command
        // would complete its options.
        String::from_utf8_lossy(&script).replace("agent__subcmd__knowledge", "agent__knowledge")
    }
}
