// What a program pays until it has an agent that talks over keep-alive node:http.
import { createAgent, defineTool } from "@loopwright/core";
import { nodeHttp } from "@loopwright/provider-kit/node";
import { openai } from "@loopwright/providers-openai";

const echo = defineTool({
  name: "echo",
  description: "Gives back what it is given.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  execute: ({ text }) => String(text),
});
const agent = createAgent({
  name: "bench",
  provider: openai({ apiKey: "bench", transport: nodeHttp() }),
  model: "gpt-5-mini",
  tools: [echo],
});
if (agent.tools.length !== 1) throw new Error("The agent was not constructed.");
process.stdout.write(JSON.stringify(process.cpuUsage()));
