"""Shared by the drivers of real clients: an empty home, checks that print `ok NAME` or `FAILED NAME`, and JSON-RPC
over pipes. The checks themselves are in `drive_agents.py`."""

import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

# Timeout for one command of a client. On two busy cores some clients need 20 s to start.
CALL_SECONDS_MAX = 120


class World:
    """A home and a project of their own. The store is in its default place, because some clients do not pass on the
    environment."""

    def __init__(self, program):
        self.clients = os.environ["AGENT_KNOWLEDGE_TEST_CLIENTS"]
        self.program = program
        self.folder = tempfile.mkdtemp(prefix="agent-knowledge-")
        self.home = self.path("home")
        self.project = self.path("project")
        self.failed = 0
        self.passed = 0
        for folder in (self.home, self.project, self.path("bin")):
            os.makedirs(folder)
        # Plugins start the program by its name.
        os.symlink(program, self.path("bin", "agent-knowledge"))
        self.env = {
            "HOME": self.home,
            "PATH": os.pathsep.join([self.path("bin"), os.path.join(self.clients, "bin"), os.environ["PATH"]]),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            # A debug build on a busy machine is slow. Other tests check the default of 150 ms.
            "AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS": "10000",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "GEMINI_TELEMETRY_ENABLED": "false",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "FACTORY_DISABLE_TELEMETRY": "1",
        }
        subprocess.run(["git", "init", "-q", self.project], env=self.env, check=True)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Without this, the retriever that clients started would run for another ten minutes.
        self.run(self.program, "serve", "--stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *command, env=None, seconds=CALL_SECONDS_MAX):
        """Runs a command in the project. Returns its exit code and its output."""
        try:
            ran = subprocess.run(
                command,
                cwd=self.project,
                env={**self.env, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=seconds,
                errors="replace",
            )
        except subprocess.TimeoutExpired as late:
            return None, f"no end after {seconds} s: {late.output}"
        return ran.returncode, ran.stdout

    def ours(self, *arguments):
        """Runs our program and checks that it succeeds."""
        exit_code, printed = self.run(self.program, *arguments)
        self.check("agent_knowledge_" + "_".join(arguments[:2]), exit_code == 0, printed)
        return printed

    def remembers(self, **fields):
        """Saves a memory, for the project unless the fields name another repository."""
        draft = {"event_type": "error", **fields}
        ran = subprocess.run(
            [os.path.join(os.path.dirname(self.program), "log-memory"), "--json", "-"],
            cwd=self.project, env=self.env, input=json.dumps(draft), text=True, stdout=subprocess.PIPE,
        )
        self.check("a_memory_is_there", ran.returncode == 0, ran.stdout)

    def check(self, name, is_so, seen=""):
        if is_so:
            self.passed += 1
            print(f"ok {name}")
        else:
            self.failed += 1
            print(f"FAILED {name}; seen:\n{str(seen)[-3000:]}")

    def says(self, name, pattern, *command, env=None):
        """Checks that a command succeeds and that a line of its output, without colours, matches the pattern."""
        exit_code, printed = self.run(*command, env=env)
        printed = re.sub(r"\x1b\[[0-9;]*m", "", printed)
        self.check(name, exit_code == 0 and re.search(pattern, printed, re.MULTILINE), f"exit {exit_code}\n{printed}")
        return printed

    def write(self, path, text):
        path = os.path.join(self.home, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def everything(self):
        """All files of home and project with their bytes, including the clients' own files."""
        found = {}
        for top in (self.home, self.project):
            for folder, _, names in os.walk(top):
                for name in names:
                    path = os.path.join(folder, name)
                    if not os.path.islink(path) and os.path.isfile(path):
                        with open(path, "rb") as file:
                            found[path] = file.read()
        return found

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


class Talk:
    """JSON-RPC with a program over its pipes, one message per line."""

    def __init__(self, world, *command):
        self.process = subprocess.Popen(
            command, cwd=world.project, env=world.env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        self.lines = queue.Queue()
        self.calls = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def tell(self, method, params=None):
        self._send({"method": method, **({"params": params} if params is not None else {})})

    def call(self, method, params, seconds=CALL_SECONDS_MAX):
        """Returns the answer, with `result` or `error`, or {} if none arrives in time."""
        self.calls += 1
        self._send({"id": self.calls, "method": method, "params": params})
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                message = json.loads(self.lines.get(timeout=0.5))
            except (queue.Empty, ValueError):
                if self.process.poll() is not None:
                    return {}
                continue
            if message.get("id") == self.calls and "method" not in message:
                return message
        return {}

    def _send(self, message):
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def usage(text):
    print(text, file=sys.stderr)
    sys.exit(64)
