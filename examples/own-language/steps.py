"""The step protocol in a few lines of Python: what a maker asks of loopledger while it runs."""

import json
import os
import urllib.error
import urllib.parse
import urllib.request


class Refused(Exception):
    """loopledger said no: 409 another owner has the session, 423 and 424 a person must act."""

    def __init__(self, status, said):
        super().__init__(f"loopledger answered {status}: {said}")
        self.status = status


def post(path, body):
    request = urllib.request.Request(
        os.environ["LOOPLEDGER_STEP_URL"] + path,
        data=json.dumps(body).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["LOOPLEDGER_STEP_TOKEN"],
            "Content-Type": "application/json",
        },
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        raise Refused(error.code, error.read().decode()) from None


def tool(name, args, key=None):
    """An effect: recorded before and after, and made once. Returns the target's result."""
    answer = post(f"/tools/{name}", {"args": args} if key is None else {"args": args, "key": key})
    if answer["outcome"] != "confirmed":
        raise Refused(200, answer)
    return answer["result"]


def step(name, given, compute):
    """A durable step: what it gave the first time comes back on every later run of this build."""
    path = "/steps/" + urllib.parse.quote(name, safe="")
    known = post(path, {"input": given})
    if known["recorded"]:
        return known["result"]
    return post(path, {"input": given, "result": compute()})["result"]


def observe(**observation):
    """What was looked at and how completely. A partial view blocks a pass until a complete one follows."""
    post("/observations", observation)
