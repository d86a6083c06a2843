// Plays one turn, which its first argument has as JSON.
import { readFileSync } from "node:fs";

const turn = JSON.parse(process.argv[2]);
const { messages, tools } = JSON.parse(readFileSync(0, "utf8"));
const line = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const recital = () =>
  [
    ...messages.map(({ role, content }) => `${role}: ${content}`),
    ...(tools.length === 0 ? [] : [`tools: ${tools.map(({ name }) => name).join(", ")}`]),
  ].join("\n");
const text = turn.recites ? recital() : turn.text;
if (text !== undefined) for (const delta of text.match(/.{1,4}/gsu)) line({ type: "text", delta });
for (const { name, args } of turn.calls ?? []) line({ type: "call", name, arguments: args });
if (turn.usage) line({ type: "usage", ...turn.usage });
if (turn.end === "never") setInterval(() => {}, 60_000);
else if (turn.end === "failing") {
  process.stderr.write(`It was asked: ${messages.at(-1).content}\n`);
  process.exitCode = 3;
} else line({ type: "end" });
