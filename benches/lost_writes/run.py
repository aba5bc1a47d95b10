#!/usr/bin/env python3
"""Counts lost writes: N clients at once, each with a server process of its own as real MCP clients start
them, all on one store. Every write is acknowledged; then a fresh server is asked what is there.

Two servers take turns: the official memory server (one `create_entities` per write) and ours (one
`memory_save` per write). Not here: installing them (`scripts/bench lost-writes` does), and speed.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ANSWER_SECONDS_MAX = 120  # A server under load answers late; one that hangs must not hang us.
IDS_PER_CALL = 20  # As many as memory_search takes at once.


class Session:
    """One server process and the conversation with it: JSON-RPC, one message per line."""

    def __init__(self, command, environment, directory):
        self.process = subprocess.Popen(
            command, env=environment, cwd=directory, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.last_id = 0
        self.ask("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "lost-writes", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        watchdog = threading.Timer(ANSWER_SECONDS_MAX, self.process.kill)
        watchdog.start()
        try:
            for line in self.process.stdout:
                message = json.loads(line)
                if message.get("id") == self.last_id:
                    return message
        finally:
            watchdog.cancel()
        raise RuntimeError(f"no answer to {method}")

    def call(self, tool, arguments):
        """Calls a tool; returns its text, or None where the server says that it failed."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        result = answer.get("result")
        if result is None or result.get("isError"):
            return None
        return "".join(part.get("text", "") for part in result["content"])

    def leave(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=ANSWER_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class ServerMemory:
    """The official memory server: a graph in one file."""

    name = "server-memory"

    def __init__(self, node, script, folder):
        self.command = [node, script]
        self.folder = folder
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder),
            "MEMORY_FILE_PATH": str(folder / "memory.jsonl")}

    def open(self):
        return Session(self.command, self.environment, self.folder)

    def write(self, session, name):
        """Writes one memory; returns how to find it again, or None where it was not acknowledged."""
        entity = {"name": name, "entityType": "lesson", "observations": [f"what was learned about {name}"]}
        return None if session.call("create_entities", {"entities": [entity]}) is None else name

    def found(self, acknowledged):
        """Returns which of the acknowledged memories a fresh server finds."""
        session = self.open()
        graph = session.call("read_graph", {})
        session.leave()
        # A file that can no longer be read holds nothing for anybody.
        names = {entity["name"] for entity in json.loads(graph)["entities"]} if graph else set()
        return names & set(acknowledged)


class AgentKnowledge:
    """Ours: an append-only log."""

    name = "agent-knowledge"

    def __init__(self, program, folder):
        self.command = [program, "mcp"]
        self.folder = folder
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder),
            "AGENT_KNOWLEDGE_LOGS": str(folder / "logs"),
            "AGENT_KNOWLEDGE_CACHE": str(folder / "cache"),
            # The retriever that all clients share ends when this folder is removed.
            "AGENT_KNOWLEDGE_RUNTIME": str(folder / "run"),
            # Words only: no model is needed to count.
            "AGENT_KNOWLEDGE_MODEL_DIR": str(folder / "no-model")}

    def open(self):
        return Session(self.command, self.environment, self.folder)

    def write(self, session, name):
        text = session.call("memory_save", {
            "event_type": "fact", "repo": "bench", "lesson": f"what was learned about {name}"})
        match = re.search(r"\b[0-9A-HJKMNP-TV-Z]{26}\b", text or "")
        return match and match.group()

    def found(self, acknowledged):
        session = self.open()
        found = set()
        for start in range(0, len(acknowledged), IDS_PER_CALL):
            some = acknowledged[start:start + IDS_PER_CALL]
            # None where any of them is missing: then one by one.
            text = session.call("memory_search", {"ids": some, "limit": IDS_PER_CALL, "max_tokens": 8000})
            if text is not None and all(id in text for id in some):
                found.update(some)
                continue
            for one in some:
                text = session.call("memory_search", {"ids": [one]})
                if text is not None and one in text:
                    found.add(one)
        session.leave()
        return found


def run_client(server, client, writes, pace, barrier, acknowledged):
    chance = random.Random(client)
    session = server.open()
    barrier.wait()
    end = time.monotonic() + pace if pace else None
    number = 0
    while number < writes if end is None else time.monotonic() < end:
        if end is not None:
            # As people and agents work: about one write a second, none in step.
            time.sleep(chance.uniform(0.5, 1.5))
        written = server.write(session, f"client{client}write{number}")
        number += 1
        acknowledged.append((client, number, written))
    session.leave()


def measure(server, clients, writes, pace):
    """Returns how many writes were tried, acknowledged, and lost of those."""
    barrier, told, failures = threading.Barrier(clients, timeout=ANSWER_SECONDS_MAX), [], []

    def work(client):
        try:
            run_client(server, client, writes, pace, barrier, told)
        except Exception as error:  # A server that died is a result, not our end.
            failures.append(f"client {client}: {error}")

    threads = [threading.Thread(target=work, args=(client,)) for client in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        print(f"{server.name}: {failure}", file=sys.stderr)
    acknowledged = [written for _, _, written in told if written]
    lost = len(acknowledged) - len(server.found(acknowledged))
    return len(told), len(acknowledged), lost


def shown(results):
    """One cell of the table: acknowledged writes of all rounds, and the share of them that was lost."""
    tried, acknowledged, lost = (sum(column) for column in zip(*results))
    share = 100 * lost / acknowledged if acknowledged else 0
    refused = f", {tried - acknowledged} refused" if tried > acknowledged else ""
    return f"{acknowledged}{refused} | {lost} ({share:.1f} %)" if lost else f"{acknowledged}{refused} | 0"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--node", required=True)
    parser.add_argument("--server-memory", required=True, help="its dist/index.js")
    parser.add_argument("--agent-knowledge", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--writes", type=int, default=100)
    parser.add_argument("--paced-seconds", type=int, default=0,
                        help="also eight clients at about one write a second, for so long")
    options = parser.parse_args()
    cases = [(clients, 0) for clients in (2, 8, 16)]
    if options.paced_seconds:
        cases.append((8, options.paced_seconds))
    print("| clients | each writes | server-memory: acknowledged | lost | agent-knowledge: acknowledged | lost |")
    print("|---:|---|---:|---:|---:|---:|")
    for clients, pace in cases:
        results = {ServerMemory.name: [], AgentKnowledge.name: []}
        for _ in range(1 if pace else options.rounds):
            for make in (
                lambda folder: ServerMemory(options.node, options.server_memory, folder),
                lambda folder: AgentKnowledge(options.agent_knowledge, folder),
            ):
                folder = Path(tempfile.mkdtemp(prefix="lost-writes-"))
                try:
                    server = make(folder)
                    results[server.name].append(measure(server, clients, options.writes, pace))
                finally:
                    shutil.rmtree(folder, ignore_errors=True)
        each = f"about 1 per second for {pace} s" if pace else f"{options.writes}, without a pause"
        print(f"| {clients} | {each} | {shown(results[ServerMemory.name])} | {shown(results[AgentKnowledge.name])} |",
              flush=True)


if __name__ == "__main__":
    main()
