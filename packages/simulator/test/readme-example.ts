import { createAgent, defineTool } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { describeFailure, runSeeds } from "@loopwright/simulator";

const booked = new Set<string>();

const book = defineTool({
  name: "book",
  description: "Books a table.",
  parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  replay: "idempotent", // May run again after a crash: so it must know its own key.
  execute: ({ name }, { idempotencyKey }) => {
    booked.add(idempotencyKey);
    return `A table for ${String(name)}.`;
  },
});

const agent = createAgent({ name: "waiter", provider: scripted([]), tools: [book] });
const { count, figures, failures } = await runSeeds({ from: 1, count: 20, agent, texts: ["A table for two, please."] });

console.log(`${count} seeds, ${figures.crashes} crashes, ${figures.toolStarts} calls, ${booked.size} bookings`);
for (const failure of failures) console.log(describeFailure(failure));
