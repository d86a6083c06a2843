import { type Agent, createAgent, defineTool, type GateVerdict } from "../src/index.ts";
import { type ScriptedTurn, scripted } from "../src/memory/index.ts";
import type { StormDice } from "./storm-dice.ts";

/** An agent whose model, tools and gate do as the dice fall. The call key of each start of its tool `once` is added to `onceStarts`. */
export function stormyAgent(dice: StormDice, onceStarts: string[]): Agent {
  const parameters = { type: "object" } as const;
  const work = (name: "pure" | "idempotent" | "once"): ReturnType<typeof defineTool> =>
    defineTool({
      name,
      description: name,
      parameters,
      replay: name,
      timeoutMs: 3_000,
      execute: async (_, { callKey, signal, progress }) => {
        if (name === "once") onceStarts.push(callKey);
        progress("begun");
        await dice.takeTime(2_000);
        if (signal.aborted && dice.isChance(0.5)) throw new Error("stopped");
        if (dice.isChance(0.1)) throw new Error("failed");
        return `${name} done`;
      },
    });
  const client = defineTool({ name: "client", description: "Asks.", parameters });
  const tools = [work("pure"), work("idempotent"), work("once"), client];
  const provider = scripted(() => turnOf(dice));
  const gate = async (): Promise<GateVerdict | undefined> => {
    if (dice.isChance(0.3)) await dice.takeTime(300);
    if (!dice.isStormy || dice.isChance(0.5)) return undefined;
    return { action: "ask", ...(dice.isChance(0.5) ? { timeoutMs: 3_000 } : {}) };
  };
  return createAgent({ name: "a", provider, tools, hooks: [{ name: "gate", gate }], limits: { turnsMax: 4, abortGraceMs: 500 } });
}

/** The next answer of the model. */
function turnOf(dice: StormDice): ScriptedTurn {
  const after = dice.takeTime(1_000);
  if (!dice.isStormy) return { text: "calm", after };
  const name = (): string => dice.oneOf(["pure", "idempotent", "once", "once", "client", "unknown"]);
  const calls = Array.from({ length: 1 + Math.floor(dice.random() * 3) }, () => ({ name: name(), id: "" }));
  const fate = dice.random();
  if (fate < 0.45) return { text: "let me", calls, after };
  if (fate < 0.55) return { text: "half", error: "MODEL_OVERLOADED", after };
  if (fate < 0.6) return { text: "half", breaksOff: true, after };
  if (fate < 0.65) return { error: "MODEL_AUTH", after };
  return { text: "an answer", after, chunkSize: 3 };
}
