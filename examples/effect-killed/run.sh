#!/bin/sh
# Shows what happens to an effect whose answer is lost, and checks each step. Leaves nothing behind.
# Needs: a loopledger command (LOOPLEDGER_BIN, else the checkout's), node.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
loopledger=${LOOPLEDGER_BIN:-$here/../../bin/loopledger}
work=$(mktemp -d)
target=
cleanup() {
  status=$?
  trap - EXIT INT TERM
  if [ -n "$target" ]; then kill "$target" 2>/dev/null || true; wait "$target" 2>/dev/null || true; fi
  rm -rf "$work"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() { printf 'NOT AS SHOWN: %s\n' "$*" >&2; exit 1; }
# expect CODE COMMAND...: shows the command, runs it, and stops where it leaves with another code.
expect() {
  wanted=$1; shift
  printf '\n$ loopledger'
  for word; do
    case $word in *' '*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  printf '\n'
  code=0
  "$loopledger" "$@" || code=$?
  [ "$code" = "$wanted" ] || fail "loopledger $1 left with $code, not $wanted"
}
# says TEXT COMMAND...: the command's output has the text.
says() {
  wanted=$1; shift
  "$loopledger" "$@" > "$work/said" || true
  grep -qF -- "$wanted" "$work/said" || { cat "$work/said" >&2; fail "loopledger $1 does not say: $wanted"; }
  printf '  %s\n' "$wanted"
}
effects() { grep -c "\"kind\":\"$1\"" "$work/target/effects.jsonl" || true; }

mkdir "$work/target" "$work/project"
cp -R "$here/goals" "$here/loopledger.config.ts" "$here/maker.mjs" "$here/check.mjs" "$work/project"
node "$here/target.mjs" "$work/target" &
target=$!
tries=0
until [ -f "$work/target/address" ]; do
  tries=$((tries + 1))
  [ "$tries" -lt 150 ] || fail "the target did not start"
  sleep 0.1
done
DEPLOY_URL=$(cat "$work/target/address")
LOOPLEDGER_DATA=$work/data
export DEPLOY_URL LOOPLEDGER_DATA
cd "$work/project"
id=deploy-067138a
key=deploy:production:067138a

printf '1. The deployment takes effect, its answer is lost: a person must act (exit 3).\n'
expect 3 run goals/deploy.yaml
says '"disposition": "failed"' status "$id" --json
says '"reason": "incomplete_tool_turn"' status "$id" --json
says '"error": "external outcome unknown; reconciliation required"' status "$id" --json

printf '\n2. Running it again changes nothing: no second call is made.\n'
expect 3 run goals/deploy.yaml
[ "$(effects call)" = 1 ] || fail "the target was called $(effects call) times"

printf '\n3. A person looks at production, sees the version, and says so.\n'
expect 0 reconcile "$id" "$key" --happened --evidence 'production serves 067138a'

printf '\n4. The same session goes on, and its maker gets the settled result instead of a second deployment.\n'
expect 0 run goals/deploy.yaml
says '"disposition": "done"' status "$id" --json
[ "$(effects call)" = 1 ] || fail "the target was called $(effects call) times"
[ "$(effects application)" = 1 ] || fail "$(effects application) deployments"
printf '\nOne deployment, one receipt. As shown.\n'
