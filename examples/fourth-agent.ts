/** A fourth kind of agent beside the three of agents-research, of the same parts: it reads its own answer once before the user gets it. */

import { planHooks, promptHooks, type SettingsSource } from "@loopwright/agents-research";
import { type Agent, type AgentModel, createAgent, type Hooks } from "@loopwright/core";

const secondLook: Hooks = {
  name: "second-look",
  decide({ reason, state }) {
    if (reason !== "no_calls" || state["looked"] === true) return undefined;
    return { action: "nudge", notice: "Does your draft answer the whole question? Answer again, and better.", state: { looked: true } };
  },
};

/** The agent: within the plan of its user, with the user's sections in its prompt. */
export function carefulAgent(options: AgentModel & { readonly settings: SettingsSource }): Agent {
  const { settings, ...model } = options;
  return createAgent({
    ...model,
    name: "careful",
    prompt: "Answer the whole question.",
    hooks: [planHooks({ settings }), promptHooks({ settings }), secondLook],
  });
}
