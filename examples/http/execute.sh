#!/bin/sh
# One conversation over HTTP with a tool that runs on the caller's side, with curl alone:
#
#   1. POST /api/agent/execute   a new session, a prompt, and the tool `read_thermometer`; the events come as a stream,
#   2. the model calls the tool: the stream ends with `execute_complete`, status `awaiting_tool_execution`,
#   3. POST /api/agent/execute   with the tool's result; the rest of the run comes as a stream, up to status `completed`,
#   4. GET /api/agent/session/:id   what was said.
#
# Usage: sh execute.sh [http://127.0.0.1:8080]
# Without an address it starts a server on a free port, with the offline demonstration model, and stops it at the end.
# LOOPWRIGHT_TOKEN: the server's token, where it wants one.
# LOOPWRIGHT: the command line to start, as a shell reads it (quotes around what has spaces); default: the program of the clone that this file lies in, else `npx loopwright`.
set -eu

program() {
  clone=$(dirname "$0")/../..
  if [ -n "${LOOPWRIGHT:-}" ]; then eval "exec $LOOPWRIGHT \"\$@\""; fi
  if [ -f "$clone/scripts/bootstrap.mjs" ]; then exec node "$clone/scripts/bootstrap.mjs" start "$@"; fi
  exec npx loopwright "$@"
}

folder=$(mktemp -d)
server=
leave() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null && wait "$server" || true; fi
  rm -rf "$folder"
}
trap leave EXIT
trap 'exit 130' INT TERM

url=${1:-}
if [ -z "$url" ]; then
  : >"$folder/server.log"
  program run --offline --port 0 --store "$folder/sessions.db" --json >>"$folder/server.log" 2>&1 &
  server=$!
  tries=0
  while [ -z "$url" ]; do
    # In a clone that was never started it is made ready first, which takes its time. An error of the program ends with what to try.
    if [ "$tries" -gt 3000 ] || ! kill -0 "$server" 2>/dev/null || grep -q '^try: ' "$folder/server.log"; then
      cat "$folder/server.log" >&2
      exit 1
    fi
    url=$(sed -n 's/.*"message":"listening","url":"\([^"]*\)".*/\1/p' "$folder/server.log")
    [ -n "$url" ] || { tries=$((tries + 1)); sleep 0.1; }
  done
fi
url=${url%/}
echo "# server: $url"

# Sends the JSON of standard input and shows the events as they come. -N: do not wait for more before printing.
execute() {
  curl --silent --show-error --no-buffer --dump-header "$folder/headers" "$url/api/agent/execute" \
    ${LOOPWRIGHT_TOKEN:+--header "Authorization: Bearer $LOOPWRIGHT_TOKEN"} \
    --header 'Content-Type: application/json' --data-binary @- | tee "$folder/stream"
  [ -s "$folder/headers" ] || { echo "There is no answer from $url." >&2; exit 1; }
  grep -q '^HTTP/[0-9.]* 200' "$folder/headers" || { echo >&2; echo "The server refused this." >&2; exit 1; }
}

# The value of a text field in the last frame of the stream.
last() {
  sed -n 's/^data: \({"type":"execute_complete".*\)/\1/p' "$folder/stream" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}

expect() {
  [ "$(last status)" = "$1" ] || { echo "Expected the status $1, and it is '$(last status)'." >&2; exit 1; }
}

echo "# 1. A new session with a tool of our own."
execute <<'JSON'
{
  "input": "Please use read_thermometer.",
  "context": {
    "systemPrompt": "You look after a greenhouse. Answer in one sentence.",
    "messages": [],
    "tools": [
      {
        "name": "read_thermometer",
        "description": "Reads the thermometer on the caller's desk. Gives degrees Celsius.",
        "parameters": { "type": "object", "properties": {}, "additionalProperties": false }
      }
    ]
  }
}
JSON
expect awaiting_tool_execution
session=$(tr -d '\r' <"$folder/headers" | sed -n 's/^[Xx]-[Ss]ession-[Ii]d: //p')
call=$(last toolCallId)

echo "# 2. The model waits for the call $call of session $session. We answer it."
execute <<JSON
{
  "sessionId": "$session",
  "input": [{ "role": "tool_result", "toolCallId": "$call", "content": "21.5" }]
}
JSON
expect completed

echo "# 3. What was said."
curl --silent --show-error --fail "$url/api/agent/session/$session" \
  ${LOOPWRIGHT_TOKEN:+--header "Authorization: Bearer $LOOPWRIGHT_TOKEN"}
echo
