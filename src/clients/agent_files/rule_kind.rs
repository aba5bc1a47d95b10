//! The kind of a rule, judged from what it says and where it stands: a warning, a decision, steps or a command, a fact, or else a
//! convention. Pure. Not here: the kind of a lesson that an agent saves without one (`event::kind_guess`).

/// What becomes of a kind: its name in a log.
pub(super) const WARNING: &str = "error";
pub(super) const DECISION: &str = "decision";
pub(super) const PROCEDURE: &str = "procedure";
pub(super) const FACT: &str = "fact";
pub(super) const CONVENTION: &str = "convention";

/// Words that begin a clause which forbids.
const FORBIDS: &str = "never, do not, must avoid, should avoid, don't, dont, must not, must never, should not, should never, shall not, \
     avoid, no, cannot, you must not, you must never, under no circumstances, nie, niemals, \
     ne jamais, nunca, jamás, никогда, 禁止, 不要, 切勿, 绝不, 禁止する";
/// Labels and words of a warning.
const WARNS: &str = "warning, caution, gotcha, pitfall, caveat, beware, watch out, careful, danger, known issue, \
     known bug, be aware, footgun";
/// Words that tell of a failure, as a statement.
const FAILS: &str = "fails, breaks, hangs, crashes, panics, silently, deadlocks, corrupts, will fail, \
     will break, will crash, will hang, flaky, data loss";
/// Words of a decision.
const DECIDES: &str = "we decided, it was decided, we chose, we have chosen, we picked, we settled on, we agreed, \
     we opted, decided to, decided against, was chosen, were chosen, chosen over, chosen for, \
     chosen because, we moved from, we migrated, we switched, we replaced, migrated from, \
     migrated to, switched from, replaced by, moved away from, we rejected";
/// Words that set a choice against what was not chosen.
const INSTEAD: &str = "instead of, rather than, over, in favour of, in favor of, not";
/// Words that give a reason.
const BECAUSE: &str = "because, since, so that, due to, reason";
/// Beginnings of what a team does.
const OURS: &str =
    "we use, we keep, we store, we write, we build, we run, we stay, we do not, we don't";
/// Words of obligation.
const OBLIGES: &str = "must, should, shall, always, required, mandatory, ensure, need to, needs to, have to, \
     has to, prefer, recommended, may only, only use, please";
/// Verbs at the beginning of a clause that ask for something, other than those of a command.
const ASKS: &str = "use, prefer, keep, write, add, make, put, name, follow, ensure, check, format, test, \
     document, commit, place, store, return, handle, validate, implement, create, define, \
     declare, export, import, include, limit, mark, move, wrap, split, group, sort, order, mock, \
     cover, update, remove, delete, read, ask, confirm, explain, respect, match, apply, set, \
     treat, leave, be, let, give, provide, maintain, respond, answer, reply, think, consider, \
     verify, review, favor, favour, stick, structure, organize, organise, separate, extract, \
     pass, log, throw, catch, raise, design, develop, build, separate, reference, refer, show, \
     list, describe, specify, annotate, type, encapsulate, minimize, minimise, optimize, \
     optimise, reduce, avoid, leverage, utilize, employ, adopt, require, encourage, start, end, \
     begin, close, open, call, choose, pick, select, fix, refactor, reuse, share, link, load, \
     save, get, bind, inject, register, configure, enable, disable, turn, work, take, see, look, \
     find, search, preserve, escape, sanitize, encrypt, hash, cache, lazy, memoize, render, \
     state, note, remember, assume, expect, default, only, every, each, all, when, if, plan, \
     target, support, combine, isolate, track, monitor, measure, profile, benchmark, stub, \
     assert, focus, aim, strive, perform, establish, integrate, customize, customise, adhere, \
     align, indent, quote, spell, capitalize, squash, rebase, sign";
/// Verbs that are nouns as well.
const NOUNS: &str = "state, test, tests, document, name, type, list, mock, order, log, cache, hash, store, plan, target, \
     support, link, format, call, default, all, each, set, work, share, import, export, build, design, structure, \
     reference, profile, review, release, start, note";
/// Words behind the verb of an order.
const OBJECTS: &str =
    "the, a, an, any, your, all, each, every, this, these, those, it, them, its, their, only, both";
/// Words that stand before one of these and are no verbs.
const NO_VERBS: &str = "the, all, both, for, with, and, not, but, from, into, once, after, before, when, while, if, that, this, \
     these, those, our, its, their, has, have, are, was, were, such, than, per, via, under, over, most, some, many";
/// Verbs at the beginning of a clause that run something.
const RUNS: &str = "run, start, install, deploy, release, execute, build, launch, rebuild, restart, regenerate, \
     bump, publish, to run, to build, to start, to test, to deploy, to release, to install, \
     to add, to create, to debug, first";
/// Verbs of a statement.
const STATES: &str = "is, are, was, were, has, have, had, contains, contain, uses, lives, live, lies, runs, \
     stores, listens, needs, need, requires, supports, provides, exposes, handles, manages, \
     implements, depends, consists, includes, comes, goes, means, returns, takes, holds, owns, \
     serves, defines, generates, reads, writes, sends, receives, maps, belongs, collects, \
     translates, wraps, calls, can, cannot, will, do, does, follows, renders, extends, we use, \
     validates, loads, creates, sits, points, works, covers, affects, aggregates, orchestrates, \
     helps, allows";

/// Words of headings, and the kind that they give to what does not say its own.
const HEADINGS: &[(&str, &str)] = &[
    (
        WARNING,
        "gotcha, gotchas, pitfall, pitfalls, caveat, caveats, warning, warnings, known issues, \
         known bugs, troubleshooting, don't, don'ts, do not, never, avoid, forbidden, prohibited, \
         limitations, common mistakes, common issues, anti-patterns, antipatterns, footguns, \
         what not to do",
    ),
    (DECISION, "decision, decisions, adr, adrs, design decisions, rationale, why"),
    (
        PROCEDURE,
        "command, commands, workflow, workflows, how to, setup, set up, installation, \
         getting started, quick start, quickstart, running, deployment, deploy, release, releasing, \
         steps, procedure, runbook, build, development",
    ),
    (
        CONVENTION,
        "style, convention, conventions, naming, standards, guideline, guidelines, best practices, \
         best practice, principles, rules, directives, pull request, pull requests, pr, prs, commit, \
         commits, code review, formatting",
    ),
    (
        FACT,
        "overview, architecture, structure, tech stack, technology stack, stack, technologies, \
         project, about, key files, components, data model, data models, data flow, \
         environment variables, directories, layout, dependencies, modules",
    ),
];

/// Languages of a block of commands.
const SHELLS: &str =
    "sh, bash, zsh, fish, shell, console, powershell, pwsh, ps1, cmd, bat, terminal";
/// Programs whose name begins a command.
const PROGRAMS: &str = "npm, npx, pnpm, yarn, bun, deno, node, cargo, rustup, make, just, task, go, python, \
     python3, pip, uv, poetry, pytest, tox, ruff, docker, docker-compose, podman, kubectl, helm, \
     terraform, git, gh, mvn, gradle, dotnet, bundle, rake, rails, php, composer, artisan, mix, \
     swift, xcodebuild, flutter, dart, bazel, cmake, ctest, nx, turbo, bash, sh, curl, brew, \
     apt, sudo, cd, export, source, ansible, ansible-playbook, vitest, jest, nox, hatch, \
     pre-commit, sbt, lein, stack, cabal, zig, nix, systemctl, dnf, psql, aws, gcloud, az";

/// Judges the kind of a rule.
pub(super) fn judged_kind(text: &str, headings: &[String]) -> &'static str {
    let lower = text.to_lowercase();
    let plain: String =
        prose(&lower).chars().filter(|c| !matches!(c, '*' | '_' | '>' | '#')).collect();
    let plain = plain.trim_start_matches(|c: char| !c.is_alphanumeric()).trim();
    if text.starts_with("[ ]") {
        return CONVENTION;
    }
    // A label says what follows: `Commits: never squash`, `Warning: ...`.
    let labelled =
        plain.split_once(": ").filter(|(label, _)| label.split_whitespace().count() <= 4);
    let (label, statement) = labelled.unwrap_or(("", plain));
    let first = &*first_clause(statement);
    let by_heading = kind_of_headings(headings);
    if begins_with_any(first, FORBIDS)
        || has_any(label, WARNS)
        || begins_with_any(plain, WARNS)
        || is_alert(&lower)
    {
        return WARNING;
    }
    if is_decision(plain) {
        return DECISION;
    }
    let asks = begins_with_any(first, ASKS) && !is_noun_with_verb(first);
    if asks || asks_for_object(first) || has_any(first, OBLIGES) {
        return if is_command(text, statement) { PROCEDURE } else { asked(by_heading, text) };
    }
    if is_command(text, statement) || begins_with_any(first, RUNS) {
        return PROCEDURE;
    }
    if has_any(plain, FAILS) {
        return WARNING;
    }
    match by_heading {
        Some(kind) if kind != PROCEDURE => kind,
        _ if is_statement(first) || text.starts_with('|') => FACT,
        Some(kind) if has_code(text) || is_named_thing(text) => kind,
        _ if is_named_thing(text) => FACT,
        _ => CONVENTION,
    }
}

/// `State lives in S3`: a word that is a verb elsewhere, with a verb close behind it.
fn is_noun_with_verb(first: &str) -> bool {
    let start: Vec<&str> = first.split_whitespace().take(4).collect();
    begins_with_any(first, NOUNS) && is_statement(&start.join(" "))
}

/// An order, whatever its verb: `Capture the exact error`. What begins with an article or a pronoun is none.
fn asks_for_object(first: &str) -> bool {
    let mut words = first.split_whitespace();
    let (Some(verb), Some(object)) = (words.next(), words.next()) else { return false };
    let is_verb = verb.len() > 2 && verb.chars().all(char::is_alphabetic);
    let is_other = |word: &str| NO_VERBS.split(", ").any(|other| other == word);
    is_verb && !is_other(verb) && OBJECTS.split(", ").any(|other| other == object)
}

/// A request below a heading of things that one must not do, or of decisions, is one of these.
fn asked(by_heading: Option<&'static str>, text: &str) -> &'static str {
    match by_heading {
        Some(kind @ (DECISION | WARNING)) => kind,
        Some(PROCEDURE) if has_code(text) && text.contains("```") => PROCEDURE,
        _ => CONVENTION,
    }
}

fn kind_of_headings(headings: &[String]) -> Option<&'static str> {
    headings.iter().rev().find_map(|heading| {
        let heading = heading.to_lowercase();
        HEADINGS.iter().find(|(_, words)| has_any(&heading, words)).map(|(kind, _)| *kind)
    })
}

/// Returns a text without its fenced code.
fn prose(text: &str) -> String {
    let mut fence = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        let before = fence;
        fence = guard::markdown_marks::CodeFence::after(line, fence);
        if before.or(fence).is_none() {
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// Returns the first clause, without what stands in brackets.
fn first_clause(text: &str) -> String {
    let (mut clause, mut depth) = (String::new(), 0_usize);
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ';' | '\n' if depth == 0 => break,
            c if depth == 0 => clause.push(c),
            _ => {}
        }
    }
    let ends = [". ", " - ", " — "];
    let end = ends.iter().filter_map(|end| clause.find(end)).min().unwrap_or(clause.len());
    clause.truncate(end);
    clause.trim().trim_end_matches('.').to_owned()
}

fn begins_with_any(text: &str, starts: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '`');
    starts.split(", ").any(|start| {
        let rest = text.strip_prefix(start);
        rest.is_some_and(|rest| {
            !start.is_ascii()
                || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '\'' || c == '-')
        })
    })
}

fn has_any(text: &str, words: &str) -> bool {
    words.split(", ").any(|word| has_word(text, word))
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|after| after.chars().next());
        [before, after].into_iter().flatten().all(|c| !c.is_alphanumeric() && c != '-')
    })
}

fn is_alert(lower: &str) -> bool {
    let start = lower.trim_start_matches(['>', ' ']);
    ["[!warning]", "[!caution]", "⚠", "🚨", "❌", "🚫", "⛔"]
        .iter()
        .any(|mark| start.starts_with(mark))
}

/// What was decided, or a choice against something else with its reason.
fn is_decision(plain: &str) -> bool {
    let is_choice = has_any(plain, INSTEAD) && has_any(plain, BECAUSE);
    let is_ours = begins_with_any(plain, OURS);
    has_any(plain, DECIDES) || (is_ours && (is_choice || has_any(plain, "instead of, rather than")))
}

/// A command in code is what it says: at its beginning, as a block, or as what one is to run.
fn is_command(text: &str, statement: &str) -> bool {
    let is_shell = |line: &str| {
        let line = line.trim().trim_start_matches(['$', '>', '%']).trim_start();
        let word = line.split_whitespace().next().unwrap_or_default();
        PROGRAMS.split(", ").any(|program| program == word)
            || word.starts_with("./")
            || word.starts_with("scripts/")
    };
    let span = |at: usize| text.split('`').nth(at);
    let begins_with_command =
        text.trim_start_matches(['*', ' ']).starts_with('`') && span(1).is_some_and(is_shell);
    let labelled = statement.trim_start().starts_with('`')
        && statement.split('`').nth(1).is_some_and(is_shell);
    let mut block = text.split("```").skip(1).step_by(2);
    let is_shell_block = |block: &str| {
        let language = block.lines().next().unwrap_or_default().trim();
        SHELLS.split(", ").any(|shell| shell == language) || block.lines().skip(1).any(is_shell)
    };
    let head = text.lines().next().unwrap_or_default().to_lowercase();
    let is_shell_cell = |cell: &str| is_shell(cell.trim().trim_matches('`'));
    let in_table = text.starts_with('|')
        && (has_any(&head, "command, commands") || text.split('|').any(is_shell_cell));
    let has_block = in_table || block.any(is_shell_block);
    let runs = begins_with_any(&first_clause(statement), RUNS) && text.contains('`');
    begins_with_command || labelled || has_block || runs
}

fn has_code(text: &str) -> bool {
    text.contains('`')
}

/// A sentence that states: its verb stands behind a subject of at most a few words.
fn is_statement(first: &str) -> bool {
    let words: Vec<&str> = first.split_whitespace().collect();
    let behind = words.iter().enumerate().skip(1).take(8);
    let mut behind = behind.map(|(at, _)| words.get(at..).unwrap_or_default().join(" "));
    behind.any(|rest| begins_with_any(&rest, STATES))
        || begins_with_any(first, "we use, there is, there are")
}

/// `Database: PostgreSQL 16`, `` `src/api/` - handlers ``: a name, and what it is.
fn is_named_thing(text: &str) -> bool {
    let bare = text.trim_start_matches('*');
    let is_code = bare.starts_with('`')
        && bare.split('`').nth(2).is_some_and(|rest| {
            rest.trim_start_matches(['*', ')', ' '])
                .starts_with([':', '-', '–', '—', '(', '→', '='])
        });
    let label = text.split_once(':').filter(|(label, rest)| {
        label.split_whitespace().count() <= 4 && rest.starts_with([' ', '*'])
    });
    is_code
        || label.is_some_and(|(_, rest)| {
            !begins_with_any(rest.to_lowercase().trim_start_matches(['*', ' ']), ASKS)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str, heading: &str) -> &'static str {
        judged_kind(text, &[heading.to_owned()])
    }

    // S-FILE-3
    #[test]
    fn a_rule_is_of_the_kind_that_it_says() {
        for (text, expected) in [
            ("Never commit to main", WARNING),
            ("**Do not** edit `gen/`; it is overwritten", WARNING),
            ("Don't use `any`", WARNING),
            ("Avoid default exports", WARNING),
            ("Warning: the staging database is shared", WARNING),
            ("The dev server hangs if port 3000 is taken", WARNING),
            ("Commits: never squash a release", WARNING),
            ("⚠️ Migrations lock the table", WARNING),
            ("We decided to keep money as integer cents", DECISION),
            ("We use Postgres instead of MySQL because of JSONB", DECISION),
            ("SQLite was chosen over Postgres, which is one thing more", DECISION),
            ("`pnpm test` - runs all tests", PROCEDURE),
            ("Run `cargo fmt` before you commit", PROCEDURE),
            ("Build: `make all`", PROCEDURE),
            ("Start the server:\n```sh\nnpm run dev\n```", PROCEDURE),
            ("To release, tag the commit and push", PROCEDURE),
            ("The API listens on port 4400", FACT),
            ("**Database**: PostgreSQL 16", FACT),
            ("`src/api/`: REST handlers", FACT),
            ("Sessions are stored in Redis", FACT),
            ("State lives in S3; the lock table is `tf-lock`", FACT),
            ("The job (`jobs/a.ts`) runs at 02:00 UTC", FACT),
            ("the zebra tests need docker", FACT),
            ("use pnpm, never npm", CONVENTION),
            ("Prefer composition", CONVENTION),
            ("Tests must be named after their subject", CONVENTION),
            ("Tabs, please.", CONVENTION),
            ("snake_case for functions", CONVENTION),
            ("Keep functions short", CONVENTION),
            ("**Collect**: Capture the exact error", CONVENTION),
            ("[ ] The file name is lower case", CONVENTION),
            ("| Command | What |\n|---|---|\n| make test | unit tests |", PROCEDURE),
            ("On Windows:\n```powershell\nTest-Connection x\n```", PROCEDURE),
        ] {
            assert_eq!(kind(text, ""), expected, "{text}");
        }
    }

    // S-FILE-3
    #[test]
    fn headings_say_what_an_item_does_not() {
        assert_eq!(kind("Redis 6 and cluster mode", "Known issues"), WARNING);
        assert_eq!(kind("Money as integer cents", "Decisions"), DECISION);
        assert_eq!(kind("Next.js 15 with TypeScript", "Tech stack"), FACT);
        assert_eq!(kind("Use tabs", "Architecture"), CONVENTION);
        assert_eq!(kind("two spaces", "Style"), CONVENTION);
        assert_eq!(kind("**Names:** camelCase for functions", "Naming"), CONVENTION);
        assert_eq!(kind("Redis must run before the tests", "Gotchas"), WARNING);
        assert_eq!(kind("**Verify**: second run of the failing command", "Workflow"), PROCEDURE);
    }
}
