// The agent behind the pages of `examples/pages`: a tool of the server, one that a person approves, one that only the page can answer, a plan that the page
// shares, and another agent.
import { type Agent, agentTool, createAgent, defineTool } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { z } from "zod";

const bed = z.enum(["roses", "herbs", "beans"]);
const moisture = { roses: "18 %", herbs: "35 %", beans: "61 %" } as const;

const readSensor = defineTool({
  name: "read_sensor",
  description: "Reads how moist the soil of a bed is.",
  parameters: z.object({ bed }),
  replay: "pure",
  execute: (args) => `${args.bed}: ${moisture[args.bed]}`,
});

const waterBed = defineTool({
  name: "water_bed",
  description: "Waters a bed.",
  parameters: z.object({ bed }),
  replay: "once",
  approval: "It takes 40 litres of the rain water.",
  execute: (args) => `The ${args.bed} got 40 litres.`,
});

/** Without `execute`: the page answers it. */
const chooseBed = defineTool({
  name: "choose_bed",
  description: "Asks the user in the browser to choose a bed.",
  parameters: z.object({}),
  replay: "pure",
});

/** Its result sets the state that a page of AG-UI shares with the agent. */
const planBeds = defineTool({
  name: "plan_beds",
  description: "Sets the plan: which beds get water today.",
  parameters: z.object({ beds: z.array(bed) }),
  replay: "pure",
  execute: ({ beds }) => ({ type: "complete", output: `The plan has ${beds.length} beds.`, details: { state: { plan: beds } } }),
});

/** An agent `gardener` that answers with this model. */
export function gardener(provider: ModelProvider): Agent {
  return createAgent({
    name: "gardener",
    provider,
    prompt: "You help in a garden with three beds: roses, herbs and beans.",
    tools: [
      ...[readSensor, waterBed, chooseBed, planBeds],
      agentTool({ agent: createAgent({ name: "ask_botanist", provider, tools: [readSensor] }), description: "Asks a botanist." }),
    ],
  });
}
