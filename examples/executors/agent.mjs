// Answers in place of a model: reads one line with the request, writes lines with the answer. Any language and any framework can do this.
import { readFileSync } from "node:fs";

const request = JSON.parse(readFileSync(0, "utf8"));
const write = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const last = request.messages.at(-1);

if (last.role === "user" && request.tools.some(({ name }) => name === "current_time")) {
  // A tool of the agent: it runs behind approvals and guardrails, and this program is started again with its result.
  write({ type: "call", name: "current_time", arguments: {} });
} else {
  write({ type: "text", delta: last.role === "tool" ? "I looked at the clock. " : "I have no clock. " });
  write({ type: "text", delta: `You have asked ${request.messages.filter(({ role }) => role === "user").length} times.` });
}
write({ type: "usage", input: 12, output: 9 });
write({ type: "end" });
