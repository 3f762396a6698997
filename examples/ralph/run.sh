#!/bin/sh
# A loop around an agent's command line, in one line. Works on a copy in a temporary folder and leaves nothing behind.
# Needs: a loopledger command (LOOPLEDGER_BIN, else the checkout's), node.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
loopledger=${LOOPLEDGER_BIN:-$here/../../bin/loopledger}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
fail() { printf 'NOT AS SHOWN: %s\n' "$*" >&2; exit 1; }

mkdir "$work/project" "$work/out"
cp -R "$here/project/." "$here/agent.sh" "$work/project"
cd "$work/project"
code=0
"$loopledger" run "Make the tests pass" --maker ./agent.sh --check 'node --test' --protect 'test/**' --id words || code=$?
[ "$code" = 0 ] || fail "run left with $code"

"$loopledger" status words --json > "$work/out/status.json"
grep -qF '"disposition": "done"' "$work/out/status.json" || fail "the session is not done"
grep -qF '"iteration": 2' "$work/out/status.json" || fail "it did not take two builds, one for each fault"
grep -qF '"receipt": {' "$work/out/status.json" || fail "there is no receipt"
"$loopledger" verify words || fail "the receipt does not hold"
node --test > "$work/out/tests" || fail "the tests do not pass"
printf '\nTwo builds, a receipt that holds, and the tests pass. As shown.\n'
