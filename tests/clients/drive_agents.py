#!/usr/bin/env python3
"""Tests real agents, set up by `agent-knowledge setup` and by our packages, with no login, no model and an empty home.

    drive_agents.py CLIENT PROGRAM        CLIENT: claude codex gemini opencode readers conformance
                                          droid qwen copilot; PROGRAM: an absolute path

Needs AGENT_KNOWLEDGE_TEST_CLIENTS, the directory from scripts/install-clients. Prints `ok NAME` or `FAILED NAME` for each check.
No real model is called: calls go to an unreachable address or to a stub on this machine (`stub_model.py`).
"""

import json
import os
import re
import subprocess
import sys

from driving import Talk, World, usage
from stub_model import StubModel

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LESSON = "stop the daemon before you rebuild the widget cache"
NOBODY = "http://127.0.0.1:9/v1"
# Saved in another repository, so the briefing does not include it. Only the failure hook shows it.
ELSEWHERE = "flush the widget cache with widgetctl before the build"
BUILD = """#!/bin/sh
test -e .ready || { echo "error: widget cache is stale: checksum 0x7f3a mismatch" >&2; exit 1; }
echo built
"""
COMMANDS = ["./build.sh", "touch .ready", "./build.sh"]
# No memory contains a word of it, so the prompt hook shows nothing. That hook is tested elsewhere.
PROMPT = "carry on"


class Http:
    """Our HTTP server on a free port of this machine."""

    def __init__(self, world):
        # By now clients have started a retriever, which has no HTTP endpoint.
        world.run(world.program, "serve", "--stop")
        self.process = subprocess.Popen(
            [world.program, "serve", "--http", "127.0.0.1:0", "--no-token"],
            cwd=world.project, env=world.env, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        self.url = None
        for line in self.process.stderr:
            found = re.search(r"http://127\.0\.0\.1:\d+/mcp", line)
            if found:
                self.url = found.group(0)
                break

    def __enter__(self):
        return self.url

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=30)


def works(world, name, command, model, env=None):
    """Lets a client work on the project with a stub model, and checks the requests that the stub received."""
    build = os.path.join(world.project, "build.sh")
    with open(build, "w", encoding="utf-8") as file:
        file.write(BUILD)
    os.chmod(build, 0o755)
    # Start the retriever now, because the first hook does not wait for it to start.
    world.ours("status")
    exit_code, printed = world.run(*command, env=env)
    seen = f"exit {exit_code}, {len(model.requests)} requests\n{printed}"
    world.check(f"{name}_works_to_its_end", exit_code == 0 and len(model.requests) > len(COMMANDS), seen)
    first = next((body for body in model.requests if '"tools":' in body), "")
    world.check(f"{name}_is_briefed", LESSON in first, first[-3000:])
    world.check(f"{name}_is_told_at_the_failure", ELSEWHERE not in first and model.was_told(ELSEWHERE), seen)
    last = model.requests[-1] if model.requests else ""
    times = last.count(ELSEWHERE)
    world.check(f"{name}_is_told_once", times == 1, f"{times} times\n{last[-6000:]}")
    learned = world.ours("search", "widget cache is stale checksum mismatch", "--json")
    memories = json.loads(learned).get("memories", [])
    drafts = [one for one in memories if one.get("source") == "hook" and one["event_type"] == "error"]
    world.check(f"{name}_learns_what_helped", len(drafts) == 1 and "touch .ready" in json.dumps(drafts), learned)
    recent = world.ours("list", "--kind", "session", "--json")
    ends = [one["lesson"] for one in json.loads(recent).get("memories", [])]
    is_told = len(ends) == 1 and ends[0].startswith("Failed and then fixed: build.sh.")
    world.check(f"{name}_tells_of_its_session", is_told, recent)


def claude_works(world, name):
    with StubModel(COMMANDS) as model:
        env = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none"}
        command = ("claude", "-p", PROMPT, "--allowedTools", "Bash", "--model", "claude-sonnet-4-5")
        works(world, name, command, model, env)


def codex_works(world, name):
    with StubModel(COMMANDS) as model:
        provider = f'model_providers.stub={{name="stub",base_url="{model.url}/v1",wire_api="responses"}}'
        command = ("codex", "exec", "-c", provider, "-c", 'model_provider="stub"', "-c", 'model="none"',
                   "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox", PROMPT)
        works(world, name, command, model)


def gemini_works(world, name):
    with StubModel(COMMANDS) as model:
        env = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": model.url}
        works(world, name, ("gemini", "--yolo", "-m", "gemini-2.5-pro", "-p", PROMPT), model, env)


def opencode_works(world, name):
    with StubModel(COMMANDS) as model:
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "stub", "models": {"none": {"name": "none"}},
                    "options": {"baseURL": f"{model.url}/v1", "apiKey": "none"}}
        env = {"OPENCODE_CONFIG_CONTENT": json.dumps({"provider": {"stub": provider}})}
        works(world, name, ("opencode", "run", "--model", "stub/none", PROMPT), model, env)


def claude(world):
    program = "claude"
    world.says("claude_runs", r"Claude Code", program, "--version")
    world.ours("setup", "claude-code", "--user")
    world.says("claude_connects", r"^agent-knowledge: .*Connected", program, "mcp", "list")
    claude_is_briefed(world, "claude_start_hook_briefs")
    claude_works(world, "claude")
    world.says("check_is_content", r"claude", world.program, "setup", "--check")
    world.ours("setup", "--undo", "claude-code")
    exit_code, printed = world.run(program, "mcp", "list")
    world.check("claude_is_as_before", exit_code == 0 and "agent-knowledge" not in printed, printed)
    with Http(world) as url:
        world.says("claude_takes_http", r"", program, "mcp", "add", "over-http", "--transport", "http", url)
        world.says("claude_connects_over_http", r"^over-http: .*Connected", program, "mcp", "list")
    world.says("claude_market_is_valid", r"passed", program, "plugin", "validate", "--strict", ROOT)
    package = os.path.join(ROOT, "packages", "claude-code")
    world.says("claude_plugin_is_valid", r"passed", program, "plugin", "validate", "--strict", package)
    world.says("claude_market_is_added", r"", program, "plugin", "marketplace", "add", ROOT)
    world.says("claude_plugin_is_installed", r"", program, "plugin", "install", "agent-knowledge@agent-knowledge")
    world.says("claude_plugin_connects", r"plugin:agent-knowledge.*Connected", program, "mcp", "list")
    claude_is_briefed(world, "claude_plugin_briefs")


def claude_is_briefed(world, name):
    """Starts a session that ends before a prompt, and checks that its hooks showed the lesson."""
    log = world.path(name + ".log")
    exit_code, printed = world.run("claude", "--init-only", "--debug-file", log)
    with open(log, encoding="utf-8", errors="replace") as file:
        told = file.read()
    hooks = "\n".join(line for line in told.splitlines() if "ook" in line)
    world.check(name, exit_code == 0 and LESSON in told, f"exit {exit_code}\n{printed}\n{hooks}")


def codex(world):
    world.says("codex_runs", r"codex-cli", "codex", "--version")
    # No request may reach a real model.
    world.write(".codex/config.toml", "# mine\nmodel_provider = \"nobody\"\n\n[model_providers.nobody]\n"
                f"name = \"nobody\"\nbase_url = \"{NOBODY}\"\n")
    before = world.everything()
    world.ours("setup", "codex", "--user")
    world.says("codex_lists", r"^agent-knowledge\s", "codex", "mcp", "list")
    with Talk(world, "codex", "app-server") as talk:
        talk.call("initialize", {"clientInfo": {"name": "test", "version": "1"}})
        talk.tell("initialized")
        servers = talk.call("mcpServerStatus/list", {})
        ours = [one for one in servers.get("result", {}).get("data", []) if one["name"] == "agent-knowledge"]
        world.check("codex_connects", ours and set(ours[0]["tools"]) >= {"memory_search", "memory_save"}, servers)
        hooks = codex_hooks(talk, world)
        world.check("codex_reads_our_hooks", len(hooks) >= 4, hooks)
        world.check("codex_wants_trust_first", hooks and all(one["trustStatus"] == "untrusted" for one in hooks), hooks)
        started = talk.call("thread/start", {"cwd": world.project})
        thread = started.get("result", {}).get("thread", {}).get("id")
        found = talk.call("mcpServer/tool/call", {
            "threadId": thread, "server": "agent-knowledge", "tool": "memory_search",
            "arguments": {"query": "rebuild the widget cache"}})
        world.check("codex_recalls", LESSON in json.dumps(found), found)
        saved = talk.call("mcpServer/tool/call", {
            "threadId": thread, "server": "agent-knowledge", "tool": "memory_save",
            "arguments": {"event_type": "fact", "lesson": "the widget cache stands on the second disk"}})
        world.check("codex_saves", "isError\": true" not in json.dumps(saved) and "result" in saved, saved)
    codex_works(world, "codex")
    world.ours("setup", "--undo", "codex")
    after = world.everything()
    kept = world.path("home", ".codex", "config.toml")
    world.check("codex_is_as_before", after.get(kept) == before[kept], after.get(kept))
    with Http(world) as url:
        world.says("codex_takes_http", r"", "codex", "mcp", "add", "over-http", "--url", url)
        with Talk(world, "codex", "app-server") as talk:
            talk.call("initialize", {"clientInfo": {"name": "test", "version": "1"}})
            talk.tell("initialized")
            servers = talk.call("mcpServerStatus/list", {})
            ours = [one for one in servers.get("result", {}).get("data", []) if one["name"] == "over-http"]
            world.check("codex_connects_over_http", ours and "memory_search" in ours[0]["tools"], servers)
        world.run("codex", "mcp", "remove", "over-http")
    world.says("codex_market_is_added", r"", "codex", "plugin", "marketplace", "add", ROOT)
    world.says("codex_plugin_is_added", r"", "codex", "plugin", "add", "agent-knowledge@agent-knowledge")
    with Talk(world, "codex", "app-server") as talk:
        talk.call("initialize", {"clientInfo": {"name": "test", "version": "1"}})
        talk.tell("initialized")
        servers = talk.call("mcpServerStatus/list", {})
        world.check("codex_plugin_connects", "memory_search" in json.dumps(servers), servers)
        hooks = codex_hooks(talk, world)
        world.check("codex_plugin_brings_hooks", len(hooks) >= 4, hooks)


def codex_hooks(talk, world):
    listed = talk.call("hooks/list", {"cwds": [world.project]})
    hooks = [one for folder in listed.get("result", {}).get("data", []) for one in folder["hooks"]]
    return [one for one in hooks if "hook --agent codex" in one.get("command", "")]


def gemini(world):
    world.says("gemini_runs", r"^\d+\.\d+", "gemini", "--version")
    world.write(".gemini/trustedFolders.json", json.dumps({world.project: "TRUST_FOLDER"}))
    world.write(".gemini/settings.json", """{
  // mine
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false}
}
""")
    before = world.everything()
    world.ours("setup", "gemini", "--user")
    world.says("gemini_connects", r"✓ agent-knowledge: .*Connected", "gemini", "mcp", "list")
    gemini_works(world, "gemini")
    world.ours("setup", "--undo", "gemini")
    kept = world.path("home", ".gemini", "settings.json")
    after = world.everything()
    world.check("gemini_is_as_before", after.get(kept) == before[kept], after.get(kept))
    with Http(world) as url:
        world.says("gemini_takes_http", r"", "gemini", "mcp", "add", "--scope", "user", "--transport", "http", "over-http", url)
        world.says("gemini_connects_over_http", r"✓ over-http: .*Connected", "gemini", "mcp", "list")
    package = os.path.join(ROOT, "packages", "gemini")
    world.says("gemini_extension_is_valid", r"validated", "gemini", "extensions", "validate", package)
    world.says("gemini_extension_is_linked", r"", "gemini", "extensions", "link", package, "--consent")
    world.says("gemini_extension_connects", r"✓ agent-knowledge.*Connected", "gemini", "mcp", "list")
    world.says("gemini_extension_brings_the_skill", r"agent-knowledge", "gemini", "skills", "list")


def opencode(world):
    world.says("opencode_runs", r"^\d+\.\d+", "opencode", "--version")
    world.write(".config/opencode/opencode.json", "{\n  // mine\n  \"autoupdate\": false\n}\n")
    # OpenCode adds to the file when it first reads it.
    world.run("opencode", "mcp", "list")
    before = world.everything()
    world.ours("setup", "opencode", "--user")
    world.says("opencode_connects", r"agent-knowledge.*connected", "opencode", "mcp", "list")
    opencode_works(world, "opencode")
    world.ours("setup", "--undo", "opencode")
    kept = world.path("home", ".config", "opencode", "opencode.json")
    after = world.everything()
    world.check("opencode_is_as_before", after.get(kept) == before[kept], after.get(kept))
    with Http(world) as url:
        world.write(".config/opencode/opencode.json", json.dumps({"mcp": {"over-http": {"type": "remote", "url": url}}}))
        world.says("opencode_connects_over_http", r"over-http.*connected", "opencode", "mcp", "list")


def readers(world):
    """Reads the files for Cursor, VS Code and Windsurf with mcporter, an independent program. It takes `${workspaceFolder}` from the
    environment, where the editors name the folder themselves."""
    folder = {"workspaceFolder": world.project}
    world.says("mcporter_runs", r"^\d+\.\d+", "mcporter", "--version")
    for client, scope, path in (
        ("cursor", "--user", ".cursor/mcp.json"),
        ("cursor", "--project", ".cursor/mcp.json"),
        ("windsurf", "--user", ".codeium/windsurf/mcp_config.json"),
        ("vscode", "--project", ".vscode/mcp.json"),
    ):
        name = f"mcporter_{client}_{scope.strip('-')}"
        world.ours("setup", client, scope)
        printed = world.says(name + "_connects", r"1 healthy", "mcporter", "list", "--verbose", env=folder)
        world.check(name + "_is_the_source", path in printed, printed)
        call = ("mcporter", "call", "agent-knowledge.memory_search", "query=widget cache rebuild")
        world.says(name + "_recalls", re.escape(LESSON), *call, env=folder)
        world.ours("setup", "--undo", client)
    left = [path for path in world.everything() if re.search(r"mcp.*\.json$", os.path.basename(path))]
    world.check("nothing_is_left", not left, left)


def droid(world):
    world.says("droid_runs", r"^\d+\.\d+", "droid", "--version")
    world.ours("setup", "droid", "--user")
    world.says("droid_connects", r"agent-knowledge.*connected", "droid", "mcp", "list")
    with Http(world) as url:
        world.says("droid_takes_http", r"", "droid", "mcp", "add", "over-http", url, "--type", "http")
        world.says("droid_connects_over_http", r"over-http.*connected", "droid", "mcp", "list")


def qwen(world):
    world.says("qwen_runs", r"^\d+\.\d+", "qwen", "--version")
    world.write(".qwen/trustedFolders.json", json.dumps({world.project: "TRUST_FOLDER"}))
    world.ours("setup", "qwen", "--user")
    world.says("qwen_connects", r"✓ agent-knowledge: .*Connected", "qwen", "mcp", "list")
    with Http(world) as url:
        world.says("qwen_takes_http", r"", "qwen", "mcp", "add", "--scope", "user", "--transport", "http", "over-http", url)
        world.says("qwen_connects_over_http", r"✓ over-http: .*Connected", "qwen", "mcp", "list")


def copilot(world):
    world.says("copilot_runs", r"\d+\.\d+", "copilot", "--version")
    world.ours("setup", "copilot", "--user")
    world.says("copilot_reads_it", r"agent-knowledge", "copilot", "mcp", "list")


def conformance(world):
    """Runs the protocol's conformance suite in both eras. Only scenarios in the list of expected failures may fail."""
    gaps = os.path.join(HERE, "conformance")
    with Http(world) as url:
        for era, least in (("2025-11-25", 40), ("2026-07-28", 90)):
            name = "conformance_" + era.replace("-", "_")
            arguments = ("--suite", "all", "--spec-version", era, "--expected-failures", f"{gaps}/{era}.yml")
            exit_code, printed = world.run("conformance", "server", "--url", url, *arguments, "-o", world.path(era))
            total = re.search(r"^Total: (\d+) passed", printed, re.MULTILINE)
            is_enough = total and int(total.group(1)) >= least
            world.check(name, exit_code == 0 and is_enough, f"exit {exit_code}\n{printed[-3000:]}")
            if total:
                print(f"   {era}: {total.group(1)} passed")


CLIENTS = {one.__name__: one
           for one in (claude, codex, gemini, opencode, readers, conformance, droid, qwen, copilot)}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in CLIENTS or not os.path.isabs(sys.argv[2]):
        usage(__doc__)
    with World(sys.argv[2]) as world:
        world.remembers(lesson=LESSON, context="the nightly build")
        world.remembers(lesson=ELSEWHERE, repo="elsewhere", command="widgetctl flush",
                        symptoms=["error: widget cache is stale: checksum 0x11c2 mismatch"])
        CLIENTS[sys.argv[1]](world)
        return world.end()


if __name__ == "__main__":
    sys.exit(main())
