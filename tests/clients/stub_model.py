"""A stub model on loopback: it requests one command after another, then ends its turn. Agents run their tool hooks only
when a model requests a tool, and no real model is available offline. The stub supports just enough of four APIs: Anthropic
messages, OpenAI chat completions and responses, and Gemini. It keeps all requests, so that a driver can check what a model
would have read. The checks are in `drive_agents.py`."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class StubModel:
    """Requests each command of `commands` in turn, then answers with text."""

    def __init__(self, commands):
        self.commands = commands
        self.requests = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def was_told(self, text):
        """Whether any request contained a text, in its JSON form."""
        return any(json.dumps(text)[1:-1] in body for body in self.requests)

    def _handler(self):
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self._end(200, b"", "text/plain")

            def do_GET(self):
                self._end(200, b'{"data":[],"models":[]}', "application/json")

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode(errors="replace")
                path = self.path.split("?")[0]
                if path.endswith("/count_tokens"):
                    self._end(200, b'{"input_tokens":10}', "application/json")
                    return
                stub.requests.append(body)
                asked = json.loads(body) if body.startswith("{") else {}
                for ending, answer in (
                    ("/messages", stub.messages), ("/chat/completions", stub.completions), ("/responses", stub.responses),
                    (":streamGenerateContent", stub.gemini),
                ):
                    if path.endswith(ending):
                        events = "".join(answer(asked))
                        self._end(200, events.encode(), "text/event-stream")
                        return
                if path.endswith(":generateContent"):
                    answer = "".join(stub.gemini(asked)).removeprefix("data: ")
                    self._end(200, answer.encode(), "application/json")
                    return
                self._end(404, b"{}", "application/json")

            def _end(self, status, body, kind):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler

    def _next(self, done, has_tools):
        """The next command, given how many are done. None ends the turn."""
        return self.commands[done] if has_tools and done < len(self.commands) else None

    def messages(self, asked):
        results = json.dumps(asked.get("messages", [])).count('"tool_result"')
        tools = [tool.get("name") for tool in asked.get("tools", [])]
        command = self._next(results, "Bash" in tools)
        start = {"id": f"msg_{len(self.requests)}", "type": "message", "role": "assistant", "content": [],
                 "model": asked.get("model", "none"), "stop_reason": None, "stop_sequence": None,
                 "usage": {"input_tokens": 1, "output_tokens": 1}}
        yield _event("message_start", {"type": "message_start", "message": start})
        if command is None:
            block, delta, reason = {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}, "end_turn"
        else:
            block = {"type": "tool_use", "id": f"toolu_{results}", "name": "Bash", "input": {}}
            delta = {"type": "input_json_delta",
                     "partial_json": json.dumps({"command": command, "description": "Build the project"})}
            reason = "tool_use"
        yield _event("content_block_start", {"type": "content_block_start", "index": 0, "content_block": block})
        yield _event("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta})
        yield _event("content_block_stop", {"type": "content_block_stop", "index": 0})
        yield _event("message_delta", {"type": "message_delta", "usage": {"output_tokens": 1},
                                       "delta": {"stop_reason": reason, "stop_sequence": None}})
        yield _event("message_stop", {"type": "message_stop"})

    def completions(self, asked):
        done = sum(message.get("role") == "tool" for message in asked.get("messages", []))
        tools = [tool.get("function", {}).get("name") for tool in asked.get("tools", [])]
        command = self._next(done, "bash" in tools)

        def chunk(delta, reason=None):
            return _data({"id": f"chat_{len(self.requests)}", "object": "chat.completion.chunk", "created": 1,
                          "model": asked.get("model", "none"),
                          "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

        if command is None:
            yield chunk({"role": "assistant", "content": "Done."})
            yield chunk({}, "stop")
        else:
            arguments = json.dumps({"command": command, "description": "Build the project"})
            yield chunk({"role": "assistant", "tool_calls": [
                {"index": 0, "id": f"call_{done}", "type": "function",
                 "function": {"name": "bash", "arguments": arguments}}]})
            yield chunk({}, "tool_calls")
        yield "data: [DONE]\n\n"

    def responses(self, asked):
        items = asked.get("input", [])
        done = sum(item.get("type") in ("function_call_output", "local_shell_call_output", "custom_tool_call_output")
                   for item in items if isinstance(item, dict))
        tools = [tool.get("name") for tool in asked.get("tools", [])]
        name = next((one for one in ("exec_command", "shell_command", "shell") if one in tools), None)
        command = self._next(done, name is not None)
        response = {"id": f"resp_{len(self.requests)}", "object": "response", "status": "in_progress", "output": []}
        yield _event("response.created", {"type": "response.created", "response": response})
        if command is None:
            item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": "Done.", "annotations": []}]}
        else:
            key, value = {"exec_command": ("cmd", command), "shell_command": ("command", command),
                          "shell": ("command", ["bash", "-c", command])}[name]
            item = {"type": "function_call", "id": f"fc_{done}", "call_id": f"call_{done}", "name": name,
                    "arguments": json.dumps({key: value}), "status": "completed"}
        yield _event("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item})
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        yield _event("response.completed", {"type": "response.completed", "response": {
            **response, "status": "completed", "output": [item], "usage": usage}})

    def gemini(self, asked):
        done = json.dumps(asked.get("contents", [])).count('"functionResponse"')
        tools = json.dumps(asked.get("tools", []))
        command = self._next(done, '"run_shell_command"' in tools)
        call = {"functionCall": {"name": "run_shell_command",
                                 "args": {"command": command, "description": "Build the project"}}}
        part = {"text": "Done."} if command is None else call
        yield _data({
            "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [part]}}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}})


def _data(value):
    return f"data: {json.dumps(value)}\n\n"


def _event(name, value):
    return f"event: {name}\n{_data(value)}"
