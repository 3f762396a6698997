"""The check: does the board show the day's summary, with every letter of the inbox counted? It trusts no word of the maker."""

import json
import os
import pathlib
import sys
import urllib.request

COULD_NOT_CHECK = 75


def missing(posts, inputs):
    days = [post for post in posts if post["args"]["day"] == inputs["day"]]
    if len(days) != 1:
        return [f"Put one summary of {inputs['day']} on the board; there are {len(days)}"]
    text = days[0]["args"]["text"].split("\n")
    letters = [json.loads(path.read_text()) for path in pathlib.Path(inputs["inbox"]).glob("*.json")]
    found = []
    for kind in sorted({letter["kind"] for letter in letters}):
        count = sum(letter["kind"] == kind for letter in letters)
        if f"{kind}: {count}" not in text:
            found.append(f"Count the letters of kind {kind}: {count}")
    for letter in letters:
        if letter.get("urgent") and f"urgent: {letter['title']}" not in text:
            found.append(f"Name the urgent letter {letter['title']}")
    return found


def main():
    inputs = json.load(sys.stdin)["inputs"]
    try:
        with urllib.request.urlopen(os.environ["BOARD_URL"] + "/posts", timeout=10) as answer:
            posts = json.loads(answer.read())["items"]
    except OSError as error:
        print(f"the board cannot be read: {error}", file=sys.stderr)
        sys.exit(COULD_NOT_CHECK)
    next_steps = missing(posts, inputs)
    validation = {
        "verdict": "FAIL" if next_steps else "PASS",
        "evidence": {"posts": len(posts), "remaining": len(next_steps)},
        "next_steps": next_steps,
    }
    pathlib.Path(os.environ["LOOPLEDGER_VALIDATION"]).write_text(json.dumps(validation))
    print(validation["verdict"])


main()
