#!/usr/bin/env python3
"""Measures the processor time of hooks of two builds, which take turns in one run: `hook_cost.py BEFORE AFTER [ROUNDS]`, each the path of
an `agent-knowledge` with `log-memory` beside it. The floor of a build is its own `--version`. Ratios hold on a busy machine too, where
the time on the clock says little (that is measured by `benches/hook.rs`)."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LESSONS = 300
DIRECTORIES = 200
ROUNDS = 60


class Build:
    """A build in a home of its own, with a retriever of its own."""

    def __init__(self, name, program, folder):
        self.name, self.program, self.home = name, Path(program).resolve(), folder / name
        self.top = self.home / "code" / "web"
        self.top.mkdir(parents=True)
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
        # On a busy machine no hook may be cut off, or nothing would be measured.
        self.env["AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS"] = "60000"
        for setting, below in [("LOGS", "logs"), ("CACHE", "cache"), ("MODEL_DIR", "none"), ("RUNTIME", "run"), ("SESSIONS", "sessions")]:
            self.env[f"AGENT_KNOWLEDGE_{setting}"] = str(self.home / below)
        self.git("init", "--quiet")
        self.git("-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "--quiet", "--allow-empty", "--message", "one")
        self.git("remote", "add", "origin", "git@github.com:acme/web.git")
        self.fill()

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.top, env=self.env, check=True)

    def fill(self):
        lines = [
            {"repo": "github.com/acme/web", "event_type": "error", "timestamp": "2026-01-02T03:04:05Z", "branch": "main",
             "context": f"npm install fails in part {n}: EACCES{n} permission denied", "lesson": f"give the owner of part {n} the right"}
            for n in range(LESSONS)
        ]
        lines.append({"repo": "github.com/acme/web", "event_type": "error", "timestamp": "2026-01-02T03:04:06Z",
                      "context": "panicked: mizzen lock is poisoned by the quartermaster",
                      "lesson": "stop the quartermaster of the other watch before the build"})
        text = "".join(json.dumps(line) + "\n" for line in lines)
        writer = self.program.parent / "log-memory"
        subprocess.run([writer, "--json", "-"], input=text.encode(), env=self.env, cwd=self.top, check=True, stdout=subprocess.DEVNULL)
        # A save in the directory, so that the record of directories is there; then what a year of work leaves in it.
        subprocess.run([writer, "--type", "fact", "--lesson", "the mast is of oak"], env=self.env, cwd=self.top, check=True, stdout=subprocess.DEVNULL)
        record = self.home / "logs" / ".places" / "directories"
        line = record.read_text().splitlines()[0]
        record.write_text("".join(line.replace("/code/web/", f"/code/web{n}/") + "\n" for n in range(DIRECTORIES)) + line + "\n")

    def run(self, words, said=None, own=False):
        """Runs the program and returns its processor time in milliseconds, and whether it answered."""
        env = {**self.env, **({"AGENT_KNOWLEDGE_RETRIEVER": "own"} if own else {})}
        child = subprocess.Popen([self.program, *words], env=env, cwd=self.top, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        child.stdin.write(json.dumps(said).encode() if said else b"")
        child.stdin.close()
        answer = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        return (usage.ru_utime + usage.ru_stime) * 1e3, bool(answer)


def failed(error):
    return {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": {"command": "npm install"}, "error": f"Exit code 1\n{error}"}


START = {"hook_event_name": "SessionStart", "source": "startup"}
SILENT = {"hook_event_name": "UserPromptSubmit", "prompt": "go on"}
UNKNOWN = {"hook_event_name": "UserPromptSubmit", "prompt": "please paint the galleon in a friendly colour"}
KNOWN = {"hook_event_name": "UserPromptSubmit", "prompt": "why is the mizzen lock poisoned by the quartermaster"}
FAILED = failed("thread 'main' panicked: mizzen lock is poisoned by the quartermaster of another watch")
SCENES = [
    ("the program alone (--version)", None, False),
    ("a prompt of two words", SILENT, False),
    ("a prompt about nothing known", UNKNOWN, False),
    ("a prompt that is told something", KNOWN, False),
    ("a failure that is known", FAILED, False),
    ("a session starts", START, False),
    ("a prompt about nothing known, no retriever", UNKNOWN, True),
    ("a session starts, no retriever", START, True),
]


def main():
    before, after = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        builds = [Build("before", before, Path(folder)), Build("after", after, Path(folder))]
        for build in builds:
            build.run(["search", "npm"])
        times = {}
        for number in range(rounds):
            for scene, said, own in SCENES:
                for build in builds if number % 2 else reversed(builds):
                    asked = said and {**said, "session_id": f"s{number}{scene}", "cwd": str(build.top)}
                    took, answered = build.run(["hook", "--agent", "claude-code"] if said else ["--version"], asked, own)
                    times.setdefault((scene, build.name), []).append((took, answered))
        for build in builds:
            build.run(["serve", "--stop"])
    print(f"{rounds} rounds, builds taking turns; processor time (user and system) of the hook's process, p50\n")
    print("| what | before, ms | after, ms | after / before | after / its floor | answered |\n|---|---:|---:|---:|---:|---:|")
    floor = None
    for scene, _, _ in SCENES:
        old, new = (statistics.median(took for took, _ in times[scene, build.name]) for build in builds)
        floor = floor or new
        answered = sum(answered for _, answered in times[scene, "after"])
        print(f"| {scene} | {old:.1f} | {new:.1f} | {new / old:.2f} | {new / floor:.2f} | {answered} |")


main()
