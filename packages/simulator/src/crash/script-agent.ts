import { type Agent, createAgent, defineTool, type Tool } from "@loopwright/core";
import { sampleAgent } from "../people/sample-agent.ts";
import type { ModelScript } from "../world/simulated-model.ts";
import type { Witness } from "../world/witness.ts";
import type { TurnScript } from "./turn-script.ts";

/** The sample agent with two tools more: one that knows what became of its calls, and one that takes long. */
export function scriptAgent({ limits }: TurnScript, witness: () => Witness): Agent {
  const sample = sampleAgent();
  const parameters = { type: "object" } as const;
  const lookedUp = defineTool({
    name: "looked_up",
    description: "Knows what became of its calls.",
    parameters,
    execute: () => "looked_up done",
    lookup: async (key) =>
      witness().tools.some(({ callKey, outcome }) => callKey === key && outcome === "ok") ? "looked_up done" : undefined,
  });
  const slow = defineTool({ name: "slow", description: "Takes long.", parameters, execute: () => "slow done" });
  return createAgent({ ...sample, tools: [...sample.tools, lookedUp as Tool, slow as Tool], limits: { ...sample.limits, ...limits } });
}

/** Virtual milliseconds that each tool takes. */
export function scriptedToolMs(tool: string): number {
  return tool === "slow" ? 2_000 : 40;
}

/** Gives the n-th answer when the request holds n - 1 answers, in every attempt. */
export function scriptModel({ turns }: TurnScript): ModelScript {
  return ({ messages }, { attempt }) => {
    const written = messages.filter(({ role }) => role === "assistant").length;
    const turn = turns[Math.min(written, turns.length - 1)] ?? {};
    return typeof turn === "function" ? turn(attempt) : turn;
  };
}
