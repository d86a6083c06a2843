#!/bin/sh
# What an operator types on the first day: a folder for the agent, a secret, a server in the background, a question, its state and its log, the end.
#
# Usage: sh operator.sh
# LOOPWRIGHT: the command line to start, as a shell reads it; default: `npx loopwright`.
set -eu

loopwright() {
  if [ -n "${LOOPWRIGHT:-}" ]; then eval "$LOOPWRIGHT \"\$@\""; else npx loopwright "$@"; fi
}

folder=$(mktemp -d)
leave() {
  loopwright serve stop --timeout 5 2>/dev/null || true
  rm -rf "$folder"
}
trap leave EXIT
trap 'exit 130' INT TERM

cd "$folder"
# Without a terminal the passphrase comes from a file, which a secret manager would mount. It stands in no argument and no variable.
printf 'five random words of an example' > passphrase
export LOOPWRIGHT_SECRETS_PASSPHRASE_FILE="$folder/passphrase"

loopwright init greeter --provider offline
cd greeter
loopwright config validate
loopwright skills check

printf 'a token of the example' | loopwright secrets set ACME_API_TOKEN
loopwright secrets list
loopwright secrets get ACME_API_TOKEN

loopwright serve --port 0
loopwright serve status
url=$(sed -n 's/.*"url": *"\([^"]*\)".*/\1/p' .loopwright/serve.json)
loopwright ask --url "$url" --quiet "What is 6 * 7?"
loopwright serve logs --lines 5
loopwright serve stop
loopwright secrets rm ACME_API_TOKEN
