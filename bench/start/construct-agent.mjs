// What a program pays until it has an agent.
import { createAgent, defineTool } from "@loopwright/core";
import { openai } from "@loopwright/providers-openai";

const echo = defineTool({
  name: "echo",
  description: "Gives back what it is given.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  execute: ({ text }) => String(text),
});
const agent = createAgent({ name: "bench", provider: openai({ apiKey: "bench" }), model: "gpt-5-mini", tools: [echo] });
if (agent.tools.length !== 1) throw new Error("The agent was not constructed.");
process.stdout.write(JSON.stringify(process.cpuUsage()));
