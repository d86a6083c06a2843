import { type Agent, agentTool, createAgent, defineTool, type Tool } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import type { ModelScript } from "../world/simulated-model.ts";

const parameters = { type: "object" } as const;

const working = (name: string, more: Partial<Tool> = {}): Tool =>
  defineTool({ name, description: `Does ${name} work.`, parameters, execute: () => `${name} done`, ...more }) as Tool;

const limits = { turnsMax: 3, abortGraceMs: 500, depthMax: 3 } as const;
const deadlines = { firstByteMs: 10_000, idleMs: 10_000, totalMs: 60_000 } as const;

/** Three agents above one another, of which each works as well; the upper two also have an agent work in the background. */
export function treeAgent(): Agent {
  const provider = scripted([], { name: "sample-vendor", model: "sample-1" });
  const shared = { provider, limits, deadlines };
  const bottom = createAgent({ ...shared, name: "bottom", tools: [working("once"), working("again", { replay: "idempotent" })] });
  const aside = createAgent({ ...shared, name: "aside", tools: [working("once")] });
  const beside = agentTool({ agent: aside, background: true }) as Tool;
  const middle = createAgent({ ...shared, name: "middle", tools: [working("once"), agentTool({ agent: bottom }) as Tool, beside] });
  const below = [agentTool({ agent: middle }) as Tool, beside];
  return createAgent({ ...shared, name: "top", tools: [working("once"), ...below] });
}

const task = { task: "Do it." };

/** Gives work to the agent below more often than it works or answers. Calm, it answers. */
export const treeModel: ModelScript = ({ tools = [], messages }, { dice, isCalm }) => {
  const usage = { input: 20, output: 5 };
  const roll = dice.next();
  if (isCalm && roll < 0.5) return { text: "All is calm.", usage };
  if (!isCalm && roll < 0.05) return { text: "I was about to", error: "MODEL_OVERLOADED" };
  if (!isCalm && roll < 0.08) return { text: "I was abo", breaksOff: true };
  const isFirst = messages.at(-1)?.role === "user";
  if (tools.length === 0 || roll > (isFirst ? 0.95 : 0.4)) return { text: "This is an answer in some pieces.", usage };
  const child = tools.find(({ name }) => name === "middle" || name === "bottom");
  const calls = Array.from({ length: 1 + dice.below(3) }, () => {
    const { name } = child && dice.chance(0.6) ? child : dice.oneOf(tools);
    return { name, args: name === child?.name || name === "aside" ? task : {} };
  });
  return { calls, usage };
};
