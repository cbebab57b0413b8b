#!/usr/bin/env python3
"""A model on this machine for trying agents' command lines: it speaks what Anthropic, OpenAI (chat and
responses) and Gemini speak, reads the file that it is told, sends one edit, has the command of the variable
FAKE_THEN run, and says that it is done; the edit stands in its words only where it is offered no tools. With
--run it lets the agent run one command instead. With FAKE_STATUS (401, 429, 529) it answers nothing but that.
LOG gets what it was asked, a line of JSON each.

    scripts/fake_model.py FILE OLD NEW [LOG]      prints its address; FILE is absolute
    scripts/fake_model.py --run COMMAND - [LOG]

It is no measure of an agent: it shows that flags, edits and answers arrive.
"""
import http.server
import json
import os
import sys

FILE, OLD, NEW = sys.argv[1:4]
LOG = sys.argv[4] if len(sys.argv) > 4 else None
THEN = os.environ.get("FAKE_THEN")
STATUS = int(os.environ.get("FAKE_STATUS", "200"))
LINE = OLD if FILE == "--run" else THEN
NAME = FILE.rsplit("/", 1)[-1]
BLOCK = f"{NAME}\n```\n<<<<<<< SEARCH\n{OLD}\n=======\n{NEW}\n>>>>>>> REPLACE\n```\n"
PATCH = f"*** Begin Patch\n*** Update File: {NAME}\n@@\n-{OLD}\n+{NEW}\n*** End Patch\n"
SHELL = f"apply_patch <<'END'\n{PATCH}END\n"

# What an argument of a tool is called, and what it gets.
VALUES = [
    (("file_path", "filepath", "path", "absolute_path", "filename"), FILE),
    (("old_string", "oldstring", "old_str", "old_text"), OLD),
    (("new_string", "newstring", "new_str", "new_text"), NEW),
    (("content", "file_text"), NEW + "\n"),
    (("instruction", "description", "explanation"), "change it"),
    (("command", "cmd"), LINE),
]
RUNS = ("bash", "run_shell_command", "exec_command", "shell_command", "shell")
READS = ("read", "read_file", "view")
EDITS = ("edit", "replace", "write_file", "write", "create")


def arguments(schema):
    named = schema.get("properties", {})
    wanted = schema.get("required") or list(named)
    filled = {}
    for name in named:
        low = name.lower()
        for names, value in VALUES:
            if low in names and (name in wanted or names[0] in ("old_string", "new_string")):
                filled[name] = value
    return filled


def chosen(tools, answered):
    """The tool to call, and with what: read first where the agent asks for that, then edit."""
    by_name = {name.lower(): (name, schema) for name, schema in tools}
    steps = [RUNS] if FILE == "--run" else [READS, EDITS] + [RUNS] * bool(THEN)
    order = steps[answered : answered + 1]
    for names in order:
        for name in names:
            if name in by_name:
                name, schema = by_name[name]
                return name, arguments(schema)
    return None


def done_words(tools):
    return "Done." if tools else "Done.\n\n" + BLOCK


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self):
        self.reply({"object": "list", "data": [{"id": "fake", "object": "model"}], "models": []})

    def do_POST(self):
        size = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(size)
        if self.headers.get("transfer-encoding") == "chunked":
            body = self.chunks()
        try:
            asked = json.loads(body or b"{}")
        except ValueError:
            asked = {}
        path = self.path.split("?")[0]
        if STATUS != 200:
            kind = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}[STATUS]
            said = {"type": "error", "error": {"type": kind, "message": kind.replace("_", " "), "code": STATUS}}
            return self.reply(said, STATUS)
        if LOG:
            with open(LOG, "a") as log:
                log.write(json.dumps({"path": self.path, "body": asked}) + "\n")
        if path.endswith("/count_tokens") or path.endswith(":countTokens"):
            self.reply({"input_tokens": 100, "totalTokens": 100})
        elif path.endswith("/messages"):
            self.anthropic(asked)
        elif path.endswith("/responses"):
            self.openai_responses(asked)
        elif path.endswith("/chat/completions"):
            self.chat(asked)
        elif "enerateContent" in path:
            self.gemini(asked, "stream" in path)
        else:
            self.reply({})

    def chunks(self):
        body = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        return body

    def reply(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events, named=True, done=False):
        text = ""
        for event in events:
            if named:
                text += f"event: {event['type']}\n"
            text += f"data: {json.dumps(event)}\n\n"
        if done:
            text += "data: [DONE]\n\n"
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def anthropic(self, asked):
        tools = [(it.get("name", ""), it.get("input_schema", {})) for it in asked.get("tools", [])]
        parts = [
            part
            for message in asked.get("messages", [])
            if isinstance(message.get("content"), list)
            for part in message["content"]
        ]
        answered = sum(part.get("type") == "tool_result" for part in parts)
        call = chosen(tools, answered)
        if call:
            part = {"type": "tool_use", "id": f"toolu_{answered}", "name": call[0], "input": call[1]}
        else:
            part = {"type": "text", "text": done_words(tools)}
        usage = {"input_tokens": 10, "output_tokens": 5}
        stop = "tool_use" if call else "end_turn"
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake"}
        if not asked.get("stream"):
            done = {"content": [part], "stop_reason": stop, "stop_sequence": None, "usage": usage}
            return self.reply(message | done)
        if call:
            start = part | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        else:
            start = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": part["text"]}
        first = message | {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        self.stream([
            {"type": "message_start", "message": first},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
             "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ])

    def openai_responses(self, asked):
        tools = {it.get("name") or it.get("type"): it for it in asked.get("tools", [])}
        said = asked.get("input") if isinstance(asked.get("input"), list) else []
        answered = sum("call_output" in str(part.get("type")) for part in said)
        item = {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
                "content": [{"type": "output_text", "text": done_words(tools), "annotations": []}]}
        if answered < (1 if FILE == "--run" or not THEN else 2):
            patches = FILE != "--run" and not answered and tools.get("apply_patch", {}).get("type") == "custom"
            if patches:
                item = {"type": "custom_tool_call", "id": "ct_0", "call_id": "call_0",
                        "name": "apply_patch", "input": PATCH, "status": "completed"}
            elif name := next((it for it in ("exec_command", "shell_command", "shell") if it in tools), None):
                line = LINE if FILE == "--run" or answered else SHELL
                line = line if name != "shell" else ["bash", "-lc", line]
                key = "cmd" if name == "exec_command" else "command"
                item = {"type": "function_call", "id": f"fc_{answered}", "call_id": f"call_{answered}", "name": name,
                        "arguments": json.dumps({key: line}), "status": "completed"}
            else:
                rows = [(it.get("name", ""), it.get("parameters", {})) for it in tools.values()]
                if call := chosen(rows, answered + 1):
                    item = {"type": "function_call", "id": f"fc_{answered}", "call_id": f"call_{answered}", "name": call[0],
                            "arguments": json.dumps(call[1]), "status": "completed"}
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
                 "input_tokens_details": {"cached_tokens": 0},
                 "output_tokens_details": {"reasoning_tokens": 0}}
        done = {"id": "resp_1", "object": "response", "status": "completed", "model": "fake",
                "created_at": 0, "output": [item], "usage": usage}
        if not asked.get("stream"):
            return self.reply(done)
        begun = done | {"status": "in_progress", "output": []}
        events = [{"type": "response.created", "response": begun},
                  {"type": "response.output_item.added", "output_index": 0, "item": item}]
        if item["type"] == "message":
            where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
            part = item["content"][0]
            events += [
                {"type": "response.content_part.added", **where, "part": part | {"text": ""}},
                {"type": "response.output_text.delta", **where, "delta": part["text"]},
                {"type": "response.output_text.done", **where, "text": part["text"]},
            ]
        events += [{"type": "response.output_item.done", "output_index": 0, "item": item},
                   {"type": "response.completed", "response": done}]
        self.stream([event | {"sequence_number": at} for at, event in enumerate(events)])

    def chat(self, asked):
        tools = [(it["function"]["name"], it["function"].get("parameters", {}))
                 for it in asked.get("tools") or [] if "function" in it]
        answered = sum(it.get("role") == "tool" for it in asked.get("messages", []))
        call = chosen(tools, answered)
        message = {"role": "assistant", "content": None if call else done_words(tools)}
        if call:
            message["tool_calls"] = [{"index": 0, "id": f"call_{answered}", "type": "function",
                                      "function": {"name": call[0], "arguments": json.dumps(call[1])}}]
        stop = "tool_calls" if call else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        head = {"id": "chat_1", "created": 0, "model": "fake"}
        if not asked.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": stop}
            return self.reply(head | {"object": "chat.completion", "choices": [choice], "usage": usage})
        head |= {"object": "chat.completion.chunk"}
        choices = [{"index": 0, "delta": message, "finish_reason": None},
                   {"index": 0, "delta": {}, "finish_reason": stop}]
        events = [head | {"choices": [it]} for it in choices] + [head | {"choices": [], "usage": usage}]
        self.stream(events, named=False, done=True)

    def gemini(self, asked, streamed):
        tools = [(it["name"], it.get("parametersJsonSchema") or it.get("parameters", {}))
                 for tool in asked.get("tools", []) for it in tool.get("functionDeclarations", [])]
        answered = sum("functionResponse" in part for content in asked.get("contents", [])
                       for part in content.get("parts", []))
        call = chosen(tools, answered)
        wanted = asked.get("generationConfig", {}).get("responseJsonSchema")
        if wanted:
            # A side question of the agent, such as which model to take.
            part = {"text": json.dumps({name: "flash" for name in wanted.get("required", [])})}
        elif call:
            part = {"functionCall": {"name": call[0], "args": call[1]}}
        else:
            part = {"text": done_words(tools)}
        answer = {"candidates": [{"index": 0, "finishReason": "STOP",
                                  "content": {"role": "model", "parts": [part]}}],
                  "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5,
                                    "totalTokenCount": 15}, "modelVersion": "fake"}
        if streamed:
            self.stream([answer], named=False)
        else:
            self.reply(answer)


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
