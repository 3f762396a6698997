#!/bin/sh
# A maker and a check in Python, driven by loopledger. Works on a copy in a temporary folder and leaves nothing behind.
# Needs: a loopledger command (LOOPLEDGER_BIN, else the checkout's), python3 (its standard library is enough).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
loopledger=${LOOPLEDGER_BIN:-$here/../../bin/loopledger}
work=$(mktemp -d)
board=
cleanup() {
  status=$?
  trap - EXIT INT TERM
  if [ -n "$board" ]; then kill "$board" 2>/dev/null || true; wait "$board" 2>/dev/null || true; fi
  rm -rf "$work"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
fail() { printf 'NOT AS SHOWN: %s\n' "$*" >&2; exit 1; }
command -v python3 > /dev/null || fail "python3 is missing"

mkdir "$work/board" "$work/project"
cp -R "$here/goals" "$here/inbox" "$here"/*.py "$work/project"
python3 -B "$here/board.py" "$work/board" &
board=$!
tries=0
until [ -f "$work/board/address" ]; do
  tries=$((tries + 1))
  [ "$tries" -lt 150 ] || fail "the board did not start"
  sleep 0.1
done
BOARD_URL=$(cat "$work/board/address")
LOOPLEDGER_DATA=$work/data
export BOARD_URL LOOPLEDGER_DATA
sed "s|http://127.0.0.1:7413|$BOARD_URL|" "$here/loopledger.config.yaml" > "$work/project/loopledger.config.yaml"
cd "$work/project"

id=summary-2026-03-02
code=0
"$loopledger" run goals/summary.yaml || code=$?
[ "$code" = 0 ] || fail "run left with $code"

"$loopledger" status "$id" --json > "$work/status.json"
grep -qF '"disposition": "done"' "$work/status.json" || fail "the session is not done"
"$loopledger" events "$id" --json > "$work/events"
for type in grounding step tool_requested tool_result built check receipt; do
  grep -qE "\"type\": ?\"$type\"" "$work/events" || fail "the ledger has no $type"
  printf '  on the ledger: %s\n' "$type"
done
[ "$(wc -l < "$work/board/posts.jsonl")" -eq 1 ] || fail "the board has not exactly one post"
printf '\nAn observation, a durable step and one effect, all from Python. As shown.\n'
