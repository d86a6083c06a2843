import { type Agent, createAgent, type Hooks } from "@loopwright/core";
import { type ModelOptions, simulatedModel } from "./simulated-model.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { VirtualTime } from "./virtual-time.ts";
import { witnessedTools } from "./witnessed-tools.ts";

/** The longest that a hook takes, in virtual milliseconds. */
export const hookSlowestMs = 300;

/** The agent as one process runs it: its own hooks and tools, watched, over the simulated model. */
export function nodeAgent(
  agent: Agent,
  options: Omit<ModelOptions, "like"> & { readonly toolSlowestMs: number; readonly toolMs?: (tool: string) => number },
): Agent {
  const { node, time, toolSlowestMs } = options;
  const made = new Map<Agent, Agent>();
  // The same one each time: a child is started by the agent that `agents` of its tool names.
  const below = (child: Agent): Agent => {
    const known = made.get(child) ?? nodeAgent(child, options);
    made.set(child, known);
    return known;
  };
  return createAgent({
    ...agent,
    provider: simulatedModel({ ...options, like: agent.provider }),
    tools: witnessedTools(agent.tools, { ...options, slowestMs: toolSlowestMs, below }),
    hooks: agent.hooks.map((hooks) => slowHooks(hooks, { node, time, thinkMs: () => options.dice.next() ** 3 * hookSlowestMs })),
  });
}

interface Pace {
  readonly node: SimulatedNode;
  readonly time: VirtualTime;
  readonly thinkMs: () => number;
}

/** The same hooks, which take their time; what they do for real is done while time stands still. */
function slowHooks(hooks: Hooks, { node, time, thinkMs }: Pace): Hooks {
  const slow =
    <Context, Answer>(ask: (context: Context) => Answer | PromiseLike<Answer>) =>
    async (context: Context): Promise<Answer> => {
      await node.sleep(thinkMs());
      const answer = Promise.resolve().then(() => ask(context));
      time.hold(answer);
      return answer;
    };
  const { prepare, parse, decide, gate, review } = hooks;
  return {
    ...hooks,
    ...(prepare ? { prepare: slow(prepare.bind(hooks)) } : {}),
    ...(parse ? { parse: slow(parse.bind(hooks)) } : {}),
    ...(decide ? { decide: slow(decide.bind(hooks)) } : {}),
    ...(gate ? { gate: slow(gate.bind(hooks)) } : {}),
    ...(review ? { review: slow(review.bind(hooks)) } : {}),
  };
}
