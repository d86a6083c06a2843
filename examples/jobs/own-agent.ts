import assert from "node:assert/strict";
import { createAgent, defineTools, execute } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { z } from "zod";

interface Resources {
  readonly stock: ReadonlyMap<string, number>;
}
const defineTool = defineTools<Resources>();
const count = defineTool({
  name: "count",
  description: "Counts what is in stock.",
  parameters: z.object({ item: z.string() }),
  execute: ({ item }, { resources }) => resources.stock.get(item) ?? 0,
});
const answer = z.object({ item: z.string(), left: z.number() });

// The test: the agent of the program over a model that plays a script, with resources of the test.
const provider = scripted([{ calls: [{ name: "count", args: { item: "rope" } }] }, { text: '{"item":"rope","left":7}' }]);
const agent = createAgent({ name: "keeper", provider, tools: [count], resources: { stock: new Map([["rope", 7]]) }, output: answer });
const result = await execute(agent, "How much rope?").result();
assert.deepEqual(result.output, { item: "rope", left: 7 });
assert.match(JSON.stringify(provider.requests[1]?.messages.at(-1)), /7/);
console.log(result.status); // completed
