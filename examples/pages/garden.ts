// The agent behind the pages of `examples/pages`: a tool of the server, one that a person approves, and one that only the page can answer.
import { type Agent, createAgent, defineTool } from "@loopwright/core";
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

/** An agent `gardener` that answers with this model. */
export function gardener(provider: ModelProvider): Agent {
  return createAgent({
    name: "gardener",
    provider,
    prompt: "You help in a garden with three beds: roses, herbs and beans.",
    tools: [readSensor, waterBed, chooseBed],
  });
}
