import { type Agent, createAgent, defineTool, type Tool } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import type { ModelScript } from "../world/simulated-model.ts";
import { argumentsOf } from "./arguments-of.ts";

const parameters = { type: "object", properties: { of: { enum: ["this", "that", "denied", "edited"] } } } as const;

function sampleTool(name: string, more: Partial<Tool> = {}): Tool {
  return defineTool({
    name,
    description: `Does ${name} work.`,
    parameters,
    timeoutMs: 8_000,
    execute: (_, context) => {
      context.progress("works");
      return `${name} done`;
    },
    ...more,
  }) as Tool;
}

const failing = sampleTool("fails", {
  execute: () => {
    throw new Error("It failed.");
  },
});

/**
 * The agent that is simulated when none is given: tools of every replay class, one that fails, two that the client runs (one with a deadline),
 * a gate that asks a person about one of them, denies some calls and edits others, and hooks that count model calls, repair arguments, replace
 * answers and fail results.
 */
export function sampleAgent(): Agent {
  return createAgent({
    name: "sample",
    provider: scripted([], { name: "sample-vendor", model: "sample-1" }),
    tools: [
      sampleTool("once"),
      sampleTool("idempotent", { replay: "idempotent" }),
      sampleTool("pure", { replay: "pure" }),
      sampleTool("alone", { sequential: true }),
      sampleTool("guarded"),
      failing,
      defineTool({ name: "asks", description: "Asks the person.", parameters }) as Tool,
      defineTool({ name: "asks_soon", description: "Asks the person, who has to hurry.", parameters, timeoutMs: 20_000 }) as Tool,
    ],
    hooks: [
      {
        name: "sample",
        prepare: ({ state }) => ({ state: { calls: Number(state["calls"] ?? 0) + 1 } }),
        parse: ({ call }) => (call.problem === "invalid_json" ? { args: { of: "this" }, reason: "repaired" } : undefined),
        decide({ state, message, calls }) {
          const isCut = message.stopReason === "length";
          return state["calls"] === 2 && calls.length === 0 && !isCut ? { answer: "This takes the place of an answer." } : undefined;
        },
        review: ({ call, outcome }) =>
          call.name === "pure" && outcome === "ok" && call.args["of"] === "that" ? { fail: true, reason: "Not to be trusted." } : undefined,
        gate({ call }) {
          if (call.name === "guarded") return { action: "ask", timeoutMs: 30_000, reason: "It matters." };
          if (call.args["of"] === "denied") return { action: "deny", reason: "Not this one." };
          return call.args["of"] === "edited" ? { action: "edit", args: { of: "other" } } : undefined;
        },
      },
    ],
    limits: { turnsMax: 5, abortGraceMs: 500 },
    deadlines: { firstByteMs: 10_000, idleMs: 10_000, totalMs: 60_000 },
  });
}

/** What a model may do: answers, calls of the tools it is shown, and every way in which a vendor fails. Calm, it answers. */
export const sampleModel: ModelScript = (request, { dice, isCalm }) => {
  const tools = request.tools ?? [];
  if (isCalm && dice.chance(0.7)) return { text: "All is calm.", usage: { input: 10, output: 4 } };
  const roll = dice.next();
  if (tools.length > 0 && roll < 0.5) {
    const calls = Array.from({ length: 1 + dice.below(3) }, () => {
      const { name, parameters: schema } = dice.oneOf(tools);
      const id = dice.chance(0.1) ? "" : `call_${dice.below(1_000_000)}`;
      return { name: dice.chance(0.03) ? "unknown" : name, args: argumentsOf(schema, dice), id };
    });
    return { ...(dice.chance(0.6) ? { text: "Let me see what I can do." } : {}), calls, usage: { input: 20, output: 9 } };
  }
  if (!isCalm && roll < 0.56) return { text: "I was about to", error: "MODEL_OVERLOADED" };
  if (!isCalm && roll < 0.6) return { text: "I was abo", breaksOff: true };
  if (!isCalm && roll < 0.62) return { error: "MODEL_AUTH" };
  if (!isCalm && roll < 0.64) return { text: "Then I fell si", hang: true };
  if (!isCalm && roll < 0.66) return { calls: [{ name: tools[0]?.name ?? "once", argsText: '{"of": ' }] };
  // The token limit may part a pair.
  if (roll > 0.97)
    return { thinking: "Hm, \ud83d", text: "This smile was cut: \ud83d", stopReason: "length", usage: { input: 9, output: 9 } };
  return { thinking: "Hm.", text: "This is an answer of some length, so that it comes in pieces.", usage: { input: 30, output: 12 } };
};
