"""An agent for `mendit repair --agent-protocol json`: it takes the spelling that Python proposes.

The packet comes on standard input; one reply goes to standard output.
"""
import json
import re
import sys


def answer(packet):
    proposal = re.search(r"'(\w+)'.*Did you mean: '(\w+)'\?", packet["logs"]["text"])
    if not proposal:
        return {"status": "give_up", "notes": "the log proposes no spelling"}
    wrong, right = re.compile(rf"\b{proposal[1]}\b"), proposal[2]
    whole = [file for file in packet["fileSnapshots"] if file["mode"] == "full"]
    files = [
        {"path": file["path"], "content": wrong.sub(right, file["content"])}
        for file in whole
        if wrong.search(file["content"])
    ]
    if files:
        return {"status": "patch", "files": files}
    seen = {file["path"] for file in whole}
    more = [file["path"] for file in packet["repoIndex"]["files"] if file["path"].endswith(".py")]
    return {"status": "request_files", "requestedFiles": [path for path in more if path not in seen][:5]}


json.dump(answer(json.load(sys.stdin)), sys.stdout)
