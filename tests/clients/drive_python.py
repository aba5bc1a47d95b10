#!/usr/bin/env python3
"""Tests our MCP server with the official Python client, in every protocol era that the client supports.

    drive_python.py SERVER_COMMAND...

The caller sets a hermetic HOME and store in the environment, which the server inherits. Each check
prints `ok NAME` or `FAILED NAME: reason`. The exit code is 1 if a check failed. The Rust tests cover
what the server remembers and how it ranks.
"""

import json
import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import PromptReference, ResourceTemplateReference

# The mode of the client -> the protocol version that it must get, so that a fallback does not go unnoticed.
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}
# Name -> whether the tool only reads.
TOOLS = {
    "memory_search": True,
    "memory_context": True,
    "memory_save": False,
    "memory_feedback": False,
    "memory_forget": False,
    "memory_related": True,
    "session_search": True,
}
REPO = "clients-check"

# A hung server must fail the check, not hang the test. A debug build on a busy machine is slow.
REPLY_SECONDS_MAX = 20
RUN_SECONDS_MAX = 240
# The client kills a server that still runs two seconds after the end of its input.
EXIT_SECONDS_MAX = 1.5
# Far over the maximum line length of a log, so the server must refuse it and not truncate it.
HUGE_LESSON_BYTES = 10_000_000

passed: list[str] = []
failed: list[str] = []


class Stray(logging.Handler):
    """Collects output on the server's stdout that the client could not parse as protocol."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record.getMessage())


async def check(name: str, body: Callable[[], Awaitable[None]]) -> None:
    try:
        await body()
    except Exception as error:  # A failed check is a result. The next checks still run.
        failed.append(name)
        print(f"FAILED {name}: {type(error).__name__}: {str(error)[:600]}", flush=True)
    else:
        passed.append(name)
        print(f"ok {name}", flush=True)


def expect(condition: object, why: str) -> None:
    if not condition:
        raise AssertionError(why)


def text_of(result: Any) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


def views_of(result: Any) -> list[str]:
    """What a model may see: some clients show it the text, others the structured content."""
    views = [text_of(result)]
    if result.structured_content is not None:
        views.append(json.dumps(result.structured_content, ensure_ascii=False))
    return views


def id_of(result: Any) -> str:
    """The id in the reply to `memory_save`."""
    structured = result.structured_content
    if isinstance(structured, dict) and isinstance(structured.get("id"), str):
        return structured["id"]
    found = re.search(r"\b[0-9A-HJKMNP-TV-Z]{26}\b", text_of(result), re.IGNORECASE)
    expect(found, f"no id in {text_of(result)!r}")
    return found.group(0)


def lesson(word: str, **changes: Any) -> dict[str, Any]:
    return {
        "repo": REPO,
        "event_type": "error",
        "context": f"the {word} build stopped",
        "command": f"make {word}",
        "lesson": f"always clean {word} before building",
        "tags": [word],
    } | changes


class Session:
    """The checks of one connection. Only this connection's lesson contains `word`."""

    def __init__(self, client: Client, mode: str) -> None:
        self.client = client
        self.mode = mode
        self.word = "zanthor" + re.sub(r"\W", "", mode)
        self.id = ""

    async def run(self) -> None:
        for name in [name for name in dir(self) if name.startswith("check_")]:
            title = re.sub(r"^check_\d_", "", name)
            await check(f"{self.mode}/{title}", getattr(self, name))
        for title, tool, arguments, named in self.refusals():
            await check(f"{self.mode}/{title}", lambda: self.refused(tool, arguments, named))
        again = self.check_2_search_finds_it_at_once
        await check(f"{self.mode}/still_answers_after_refusals", again)

    async def check_0_tools_are_listed_with_their_hints(self) -> None:
        tools = {tool.name: tool for tool in (await self.client.list_tools()).tools}
        for name, read_only in TOOLS.items():
            expect(name in tools, f"{name} is not among {sorted(tools)}")
            tool = tools[name]
            expect(tool.description, f"{name} has no description")
            expect(tool.annotations, f"{name} has no annotations")
            expect(bool(tool.annotations.read_only_hint) == read_only, f"{name}: read only hint")
            # In the protocol, this hint only has a meaning for tools that write.
            harmless = (False, None) if read_only else (False,)
            expect(tool.annotations.destructive_hint in harmless, f"{name}: destructive hint")
            expect(tool.annotations.open_world_hint is False, f"{name}: open world hint")

    async def check_0_speaks_the_expected_version(self) -> None:
        spoken = self.client.protocol_version
        expect(spoken == MODES[self.mode], f"speaks {spoken}")

    async def check_0_says_who_it_is(self) -> None:
        if self.mode not in ("legacy", "auto"):
            return  # With a given version, the client does not ask the server who it is.
        expect(self.client.server_info and self.client.server_info.name, "no server name")
        expect(self.client.instructions, "no instructions")

    async def check_1_save_gives_an_id(self) -> None:
        result = await self.client.call_tool("memory_save", lesson(self.word))
        expect(not result.is_error, text_of(result))
        self.id = id_of(result)
        for view in views_of(result):
            expect(self.id in view, f"the id {self.id} is missing in {view!r}")

    async def check_2_search_finds_it_at_once(self) -> None:
        await self.found(limit=5)

    async def check_3_a_number_in_quotes_is_a_number(self) -> None:
        await self.found(limit="5")

    async def found(self, **extra: Any) -> None:
        arguments = {"query": f"{self.word} build stopped", "repo": REPO} | extra
        result = await self.client.call_tool("memory_search", arguments)
        expect(not result.is_error, text_of(result))
        for view in views_of(result):
            expect(f"always clean {self.word}" in view, f"not found in {view!r}")

    async def check_3_nothing_relevant_is_said_without_filler(self) -> None:
        arguments = {"query": "qqxyzzy wwplugh", "repo": REPO}
        result = await self.client.call_tool("memory_search", arguments)
        expect(not result.is_error, text_of(result))
        expect(text_of(result).strip(), "an empty reply says nothing")
        for view in views_of(result):
            expect("always clean" not in view, f"filler: {view!r}")

    async def check_3_context_answers(self) -> None:
        arguments = {"repo": REPO, "task": f"mend the {self.word} build"}
        result = await self.client.call_tool("memory_context", arguments)
        expect(not result.is_error, text_of(result))
        for view in views_of(result):
            expect(self.word in view, f"the lesson is missing in {view!r}")

    async def check_4_control_characters_never_come_back(self) -> None:
        word = self.word + "esc"
        raw = f"\x1b[31mred {word}\x07\u202e ends"
        result = await self.client.call_tool("memory_save", lesson(word, lesson=raw))
        if result.is_error:
            expect("lesson" in text_of(result), f"the field is not named: {text_of(result)!r}")
        else:
            arguments = {"query": f"{word} build stopped", "repo": REPO}
            result = await self.client.call_tool("memory_search", arguments)
            expect(word in text_of(result), f"saved but not found: {text_of(result)!r}")
        for character in "\x1b\x07\u202e":
            expect(character not in text_of(result), f"{character!r} came back")

    async def check_5_resources_are_listed(self) -> None:
        uris = [str(resource.uri) for resource in (await self.client.list_resources()).resources]
        expect("memory://recent" in uris, f"memory://recent is not among {uris}")
        listed = (await self.client.list_resource_templates()).resource_templates
        templates = [template.uri_template for template in listed]
        expect("memory://item/{id}" in templates, f"memory://item/{{id}} is not among {templates}")

    async def check_6_recent_shows_the_lesson(self) -> None:
        expect(self.word in await self.read("memory://recent"), "the lesson is missing")

    async def check_6_item_shows_the_lesson(self) -> None:
        expect(self.id, "nothing was saved")
        item = await self.read(f"memory://item/{self.id}")
        expect(f"always clean {self.word}" in item, f"another item: {item[:200]!r}")

    async def check_7_unknown_item_is_an_error(self) -> None:
        await self.rejected(self.client.read_resource("memory://item/zzzzzz-no-such-id"))

    async def check_7_unknown_tool_is_an_error(self) -> None:
        try:
            result = await self.client.call_tool("memory_of_elephants", {"query": "x"})
        except MCPError as error:
            message = error.message
        else:
            expect(result.is_error, "an unknown tool was called")
            message = text_of(result)
        expect(re.search("memory_of_elephants|tool", message), f"unclear: {message!r}")

    async def check_8_recall_prompt_takes_a_topic(self) -> None:
        prompts = {prompt.name: prompt for prompt in (await self.client.list_prompts()).prompts}
        expect("recall" in prompts, f"recall is not among {sorted(prompts)}")
        names = [argument.name for argument in prompts["recall"].arguments or []]
        expect("topic" in names, f"topic is not among {names}")
        result = await self.client.get_prompt("recall", {"topic": self.word})
        expect(result.messages, "the prompt has no message")
        expect(self.word in result.messages[0].content.text, "the topic is not in the prompt")

    async def check_8_handoff_begins_with_the_briefing(self) -> None:
        text = await self.prompt("handoff", {"repo": REPO})
        expect(self.word in text, f"the lesson is missing in {text[:300]!r}")
        expect("event_type task" in text, f"tasks are not asked for: {text[:300]!r}")

    async def check_8_retro_asks_for_lessons(self) -> None:
        text = await self.prompt("retro", {})
        expect("memory_save" in text and "symptoms" in text, f"no form: {text[:300]!r}")

    async def check_8_prompts_refuse_what_they_do_not_know(self) -> None:
        await self.rejected(self.client.get_prompt("handoff", {"moral": "x"}))

    async def check_9_arguments_are_completed(self) -> None:
        recall = PromptReference(type="ref/prompt", name="recall")
        expect(await self.completed(recall, "topic", self.word[:-1]) == [self.word], "tags")
        expect(await self.completed(recall, "repo", REPO[:5]) == [REPO], "repositories")
        expect(await self.completed(recall, "kind", "err") == ["error"], "kinds")

    async def check_9_addresses_are_completed(self) -> None:
        item = ResourceTemplateReference(type="ref/resource", uri="memory://item/{id}")
        expect(self.id, "nothing was saved")
        expect(self.id in await self.completed(item, "id", self.id[:20]), "ids")

    async def check_9_the_briefing_is_a_resource(self) -> None:
        text = await self.read("memory://context")
        expect(text.startswith("**Memory of "), f"no briefing: {text[:200]!r}")

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        return (await self.client.get_prompt(name, arguments)).messages[0].content.text

    async def completed(self, reference: Any, name: str, typed: str) -> list[str]:
        argument = {"name": name, "value": typed}
        return (await self.client.complete(reference, argument)).completion.values

    async def check_8_unknown_prompt_is_an_error(self) -> None:
        await self.rejected(self.client.get_prompt("no_such_prompt", {}))

    def refusals(self) -> list[tuple[str, str, dict[str, Any], str]]:
        """Invalid calls: name, tool, arguments, and a word that the answer must contain."""
        word = self.word + "bad"
        huge = "a" * HUGE_LESSON_BYTES
        search = {"query": self.word, "repo": REPO}
        return [
            ("empty_lesson", "memory_save", lesson(word, lesson=""), "lesson"),
            ("blank_lesson", "memory_save", lesson(word, lesson=" \n\t "), "lesson"),
            ("missing_lesson", "memory_save", {"repo": REPO, "context": word}, "lesson"),
            ("lesson_of_10_megabytes", "memory_save", lesson(word, lesson=huge), "lesson"),
            ("lesson_of_wrong_type", "memory_save", lesson(word, lesson=["a"]), "lesson|string"),
            ("unknown_field", "memory_save", {"repo": REPO, "moral_of_it": "x"}, "moral_of_it"),
            ("repo_that_climbs", "memory_save", lesson(word, repo="../../etc"), "repo"),
            ("limit_below_0", "memory_search", search | {"limit": -1}, "limit"),
            ("limit_of_halves", "memory_search", search | {"limit": 2.5}, "limit"),
            ("limit_of_words", "memory_search", search | {"limit": "many"}, "limit|number|integer"),
            ("search_with_unknown_field", "memory_search", {"repo": REPO, "q": "x"}, "q"),
            ("search_without_query", "memory_search", {"repo": REPO, "limit": 3}, "query"),
        ]

    async def refused(self, tool: str, arguments: dict[str, Any], named: str) -> None:
        """The answer is a tool error, which a model sees and can correct, and it names the wrong argument."""
        result = await self.client.call_tool(tool, arguments)
        expect(result.is_error, f"it was accepted: {text_of(result)[:200]!r}")
        message = text_of(result)
        expect(re.search(rf"\b({named})\b", message), f"{named} is not named: {message[:300]!r}")
        expect(len(message) < 1000, f"the error has {len(message)} characters")

    async def rejected(self, call: Awaitable[Any]) -> None:
        try:
            result = await call
        except MCPError:
            return
        raise AssertionError(f"it was answered: {str(result)[:200]}")

    async def read(self, uri: str) -> str:
        contents = (await self.client.read_resource(uri)).contents
        return "\n".join(part.text for part in contents)


async def drive(command: list[str], mode: str) -> None:
    stray = Stray()
    logging.getLogger("mcp.client.stdio").addHandler(stray)
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    closing = 0.0

    async def session() -> None:
        nonlocal closing
        options = {"read_timeout_seconds": REPLY_SECONDS_MAX, "cache": None}
        async with Client(server, mode=mode, **options) as client:
            await Session(client, mode).run()
            closing = time.monotonic()

    await check(f"{mode}/connects_and_closes", session)
    took = time.monotonic() - closing

    async def exit_was_quick() -> None:
        expect(closing and took < EXIT_SECONDS_MAX, f"the server took {took:.1f} s to leave")

    async def stdout_was_clean() -> None:
        expect(not stray.records, f"not protocol: {stray.records[:3]}")

    await check(f"{mode}/leaves_when_its_input_ends", exit_was_quick)
    await check(f"{mode}/only_protocol_on_stdout", stdout_was_clean)


async def leave_without_a_word(command: list[str]) -> None:
    """A client that disconnects before the handshake is not an error."""
    process = await anyio.to_thread.run_sync(run_on, command, b"")
    expect(process.returncode == 0, f"exit code {process.returncode}")
    expect(process.stdout == b"", f"stdout: {process.stdout[:200]!r}")


async def survive_garbage(command: list[str]) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "garbage", "version": "0"},
    }
    lines = b"this is not JSON\n" + request(7, "initialize", hello)
    process = await anyio.to_thread.run_sync(run_on, command, lines)
    expect(process.returncode == 0, f"exit code {process.returncode}")
    replies = [json.loads(line) for line in process.stdout.splitlines()]
    expect([reply for reply in replies if reply.get("id") == 7], f"no reply in {replies}")


async def leave_while_listened_to(command: list[str]) -> None:
    """Claude Code keeps a subscription open until it exits."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "listener", "version": "0"},
    }
    listen = {"notifications": {"resourcesListChanged": True}, "_meta": meta}
    lines = request(1, "server/discover", {"_meta": meta})
    lines += request(2, "subscriptions/listen", listen)
    began = time.monotonic()
    process = await anyio.to_thread.run_sync(run_on, command, lines)
    took = time.monotonic() - began
    expect(process.returncode == 0, f"exit code {process.returncode}")
    expect(took < EXIT_SECONDS_MAX, f"the server took {took:.1f} s to leave")


def request(number: int, method: str, params: dict[str, Any]) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


def run_on(command: list[str], stdin: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, input=stdin, capture_output=True, timeout=REPLY_SECONDS_MAX)


async def main(command: list[str]) -> int:
    with anyio.move_on_after(RUN_SECONDS_MAX) as limit:
        for mode in MODES:
            await drive(command, mode)
        await check("raw/leaves_without_a_word", lambda: leave_without_a_word(command))
        await check("raw/survives_garbage", lambda: survive_garbage(command))
        await check("raw/leaves_while_listened_to", lambda: leave_while_listened_to(command))
    if limit.cancelled_caught:
        failed.append("time")
        print(f"FAILED time: more than {RUN_SECONDS_MAX} s", flush=True)
    print(f"{len(passed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr)
    sys.exit(anyio.run(main, sys.argv[1:]))
