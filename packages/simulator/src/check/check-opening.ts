import { type Fact, systemText } from "@loopwright/core";
import { strangeAgent } from "../world/simulated-host.ts";
import type { World } from "../world/simulated-world.ts";
import type { Claim } from "./finding.ts";
import type { LogModel } from "./log-model.ts";

export interface OpeningScene {
  readonly world: World;
  readonly session: string;
  readonly facts: readonly Fact[];
  readonly model: LogModel;
  readonly claim: Claim;
}

/** I15: every run has the agent, the client tools and the prompt of the log's opening, and no other agent was accepted. */
export function checkOpening({ world, session, facts, model, claim }: OpeningScene): void {
  const opened = facts.find((fact) => fact.type === "session.opened");
  if (!opened) return;
  const { agent, tools = [], prompt } = opened;
  for (const { started } of model.runs.values())
    for (const run of started) {
      claim(run.agent === agent, "I15", () => `run ${run.runId} is of the agent ${run.agent}, the session of ${agent}`);
      const missing = tools.find(({ name }) => run.tools[name]?.home !== "client");
      claim(missing === undefined, "I15", () => `run ${run.runId} is without the client tool ${missing?.name}`);
    }
  const intruder = model.inputs.find(({ access }) => access?.user === strangeAgent);
  claim(intruder === undefined, "I15", () => `the input ${intruder?.inputId} came in under another agent`);
  // A `prepare` hook may change the prompt.
  if (prompt === undefined || world.agent.hooks.some(({ prepare }) => prepare)) return;
  const other = world.witness.models.find((call) => call.session === session && systemText(call.request.system) !== prompt);
  claim(other === undefined, "I15", () => `a model was asked at ${other?.atMs} with another prompt than the session's`);
}
