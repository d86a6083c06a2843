import { createAgent, createSession, defineTool, execute } from "@loopwright/core";
import { offline } from "@loopwright/providers-scripted";
import { z } from "zod";

const numbers = z.object({ a: z.number(), b: z.number() });
const add = defineTool({ name: "add", description: "Adds two numbers.", parameters: numbers, execute: ({ a, b }) => a + b });

const agent = createAgent({ name: "demo", provider: offline(), tools: [add] });
const session = createSession({ agent });
const run = execute(session, "Please use the add tool with 21.");
for await (const event of run) {
  if (event.type === "text_delta") process.stdout.write(event.delta);
}
console.log(`\n${(await run.result()).status}`);
