// Answers in place of a model: it asks for a tool of the MCP server, then repeats its result.
import { readFileSync } from "node:fs";

const { messages, tools } = JSON.parse(readFileSync(0, "utf8"));
const write = (value) => console.log(JSON.stringify(value));
const last = messages.findLast(({ role }) => role !== "notice");

if (last.role === "tool") write({ type: "text", delta: `The server has answered: ${last.content}` });
else if (tools.some(({ name }) => name === "weather__forecast")) {
  const name = last.content.includes("Set") ? "weather__set_weather" : "weather__forecast";
  write({ type: "call", name, arguments: { city: "Oslo" } });
} else write({ type: "text", delta: "There is no such tool." });
write({ type: "end" });
