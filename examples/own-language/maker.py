"""The maker: reads the inbox, chooses the day's edition once, and puts a summary on the board."""

import json
import os
import pathlib
import sys
import uuid
from datetime import datetime, timezone

from steps import Refused, observe, step, tool


def read_inbox(folder):
    return [json.loads(path.read_text()) for path in sorted(pathlib.Path(folder).glob("*.json"))]


def summary(letters):
    counts = {}
    for letter in letters:
        counts[letter["kind"]] = counts.get(letter["kind"], 0) + 1
    lines = [f"{kind}: {count}" for kind, count in sorted(counts.items())]
    urgent = [letter["title"] for letter in letters if letter.get("urgent")]
    return "\n".join(lines + [f"urgent: {title}" for title in urgent])


def main():
    dispatch = json.load(sys.stdin)
    inputs = dispatch["inputs"]
    letters = read_inbox(inputs["inbox"])
    observe(
        scope="inbox",
        query={"folder": inputs["inbox"]},
        observedAt=datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        pagination={"page": 1, "pages": 1, "complete": True},
        revision=None,
        outcome="observed" if letters else "observed_empty",
        items=[{"id": letter["id"]} for letter in letters],
    )
    # Chosen by chance, but only once: a build that is run again gets the same edition, and so makes the same call.
    edition = step("edition", {"day": inputs["day"]}, lambda: uuid.uuid4().hex[:8])
    posted = tool(
        "post_summary",
        {"day": inputs["day"], "edition": edition, "text": summary(letters)},
        key=f"summary:{inputs['day']}",
    )
    print(f"edition {edition} of {inputs['day']} is on the board as number {posted['number']}")
    result = {"summary": f"{len(letters)} letters summed up as edition {edition}"}
    pathlib.Path(os.environ["LOOPLEDGER_RESULT"]).write_text(json.dumps(result))


try:
    main()
except Refused as refused:
    sys.exit(str(refused))
