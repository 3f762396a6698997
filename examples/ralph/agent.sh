#!/bin/sh
# A stand-in for a coding agent, so that the example needs no key: it reads its prompt as one does and makes one change a
# call. What it can change is written down here; put your agent's command in its place (README.md).
set -eu
if [ -n "${LOOPLEDGER_PROMPT_FILE:-}" ]; then prompt=$(cat "$LOOPLEDGER_PROMPT_FILE"); else prompt=$(cat); fi
printf 'prompt: %s\n' "$(printf '%s\n' "$prompt" | head -n 1)"

file=src/words.mjs
if grep -q toLowerCase "$file"; then change='s/toLowerCase/toUpperCase/'
elif grep -q 'word\[1\]' "$file"; then change='s/word\[1\]/word[0]/'
else printf 'nothing that I know of is wrong here\n'; exit 1
fi
sed "$change" "$file" > "$file.part"
mv "$file.part" "$file"
printf 'changed: %s\n' "$change"
