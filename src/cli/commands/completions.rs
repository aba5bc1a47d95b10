//! `completions`: the scripts that complete words in a shell. Those of bash, zsh and fish ask this program at every Tab, so
//! that they also know ids and repositories, and stay right after an update; that of PowerShell is made by clap and knows commands
//! and options. Not here: what they ask (`complete_words`).

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use requests::Reply;
use serde_json::json;

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

/// Print the script that completes commands, options and ids in your shell
#[derive(Debug, Args)]
#[command(visible_alias = "completion", after_help = COMPLETIONS_HELP)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL", value_parser = PossibleValuesParser::new(["bash", "zsh", "fish", "powershell"]))]
    pub shell: String,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Prints the script. It is code, so nothing in it is changed for a reader.
pub(super) fn completions(
    context: &mut CommandContext<'_, '_>,
    command: &Completions,
) -> CommandResult {
    let text = command.script((context.command_line)());
    let json = json!({ "shell": command.shell, "script": text });
    Ok(CommandEnd::answer(command.form, Reply { text, json }))
}

impl Completions {
    /// Returns the script of the shell for a command line.
    fn script(&self, mut command: clap::Command) -> String {
        match self.shell.as_str() {
            "zsh" => ZSH.to_owned(),
            "fish" => FISH.to_owned(),
            "powershell" => {
                let mut script = Vec::new();
                clap_complete::generate(
                    Shell::PowerShell,
                    &mut command,
                    "agent-knowledge",
                    &mut script,
                );
                String::from_utf8_lossy(&script).into_owned()
            }
            _ => BASH.to_owned(),
        }
    }
}

const BASH: &str = r#"# Completes agent-knowledge in bash: commands, options, ids, repositories, tags and kinds.
_agent_knowledge_meant() {
  # What the shell would make of a word, without running anything of it.
  local word=$1 quote='' letter i
  meant=''
  if [[ $word == '~/'* ]]; then meant=$HOME word=${word:1}; fi
  for ((i = 0; i < ${#word}; i++)); do
    letter=${word:i:1}
    if [[ $letter == "$quote" ]]; then
      quote=''
    elif [[ -z $quote && $letter == [\'\"] ]]; then
      quote=$letter
    elif [[ $letter == "\\" && $quote != "'" ]]; then
      ((i += 1))
      meant+=${word:i:1}
    else
      meant+=$letter
    fi
  done
}
_agent_knowledge() {
  local answer line meant program word
  local -a words
  COMPREPLY=()
  _agent_knowledge_meant "$1"
  program=$meant
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    _agent_knowledge_meant "$word"
    words+=("$meant")
  done
  answer=$("$program" complete-words bash -- "${words[@]}" 2>/dev/null) || return 0
  if [[ $answer == :files ]]; then
    # bash 3 has no compopt; it completes nothing then.
    compopt -o default 2>/dev/null
    return 0
  fi
  while IFS= read -r line; do
    if [[ -n $line ]]; then COMPREPLY+=("$line"); fi
  done <<<"$answer"
}
complete -o nosort -F _agent_knowledge agent-knowledge 2>/dev/null || complete -F _agent_knowledge agent-knowledge
"#;

const ZSH: &str = r#"#compdef agent-knowledge
# Completes agent-knowledge in zsh: commands, options, ids, repositories, tags and kinds.
_agent-knowledge() {
  local answer line tab=$'\t'
  local -a found shown
  answer="$("$words[1]" complete-words zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)" || return 1
  if [[ $answer == :files ]]; then
    # Of `--file=notes` only what follows the sign is a path.
    if [[ $words[CURRENT] == --*=* ]]; then compset -P 1 '*='; fi
    _files
    return
  fi
  for line in "${(@f)answer}"; do
    [[ -n $line ]] || continue
    found+=("${line%%$tab*}")
    shown+=("${line/$tab/  }")
  done
  (( $#found )) || return 1
  compadd -U -l -V agent-knowledge -d shown -a found
}
if [[ $funcstack[1] == _agent-knowledge ]]; then
  _agent-knowledge "$@"
else
  compdef _agent-knowledge agent-knowledge
fi
"#;

const FISH: &str = r#"# Completes agent-knowledge in fish: commands, options, ids, repositories, tags and kinds.
function __agent_knowledge_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l answer ($words[1] complete-words fish -- $words[2..-1] "$current" 2>/dev/null)
    if test "$answer[1]" = ":files"
        # Of `--file=notes` only what follows the sign is a path.
        set -l parts (string match -r -- '^(--[^=]+=)(.*)$' "$current")
        if set -q parts[2]
            string replace -r -- '^' "$parts[2]" (__fish_complete_path "$parts[3]")
        else
            __fish_complete_path "$current"
        end
    else if set -q answer[1]
        printf '%s\n' $answer
    end
end
complete -c agent-knowledge -f -k -a '(__agent_knowledge_complete)'
"#;
