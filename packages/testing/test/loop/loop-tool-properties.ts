import { type State, type ToolPolicies, toolsShown } from "@loopwright/core/internals";
import { simulateLoop } from "../../src/loop/loop-simulator.ts";

/** What must hold of the tools that model calls are shown. */
export const loopToolProperties: { readonly [promise: string]: (seed: number) => void } = {
  "the state knows the tools of the last model call": (seed) => {
    const { facts, states } = simulateLoop(seed);
    facts.forEach((fact, i) => {
      const run = states[i + 1]?.run;
      if (fact.type !== "model.started" || !run || states[i]?.run === run) return;
      claim(JSON.stringify(toolsShown(run)) === JSON.stringify(fact.tools ?? run.tools), seed, `other tools after fact ${i + 1}`);
    });
  },
  "no tool starts that its model call was not shown": (seed) => {
    const { facts, states } = simulateLoop(seed);
    let shown: ToolPolicies = {};
    facts.forEach((fact, i) => {
      const before = states[i] as State;
      if (before.run === states[i + 1]?.run) return;
      if (fact.type === "model.started") shown = fact.tools ?? before.run?.tools ?? {};
      const call = fact.type === "tool.started" ? before.run?.calls.find(({ part }) => part.callKey === fact.callKey) : undefined;
      claim(!call || Object.hasOwn(shown, call.part.name), seed, `${call?.part.name} was hidden`);
      const isAgain = call !== undefined && call.attempt > 0;
      claim(
        !isAgain || shown[call.part.name]?.replay !== "once",
        seed,
        `${call?.part.name} ran again against the policy it was shown with`,
      );
    });
  },
};

/** @throws Error with the seed and what broke */
export function claim(holds: boolean, seed: number, what: string): void {
  if (!holds) throw new Error(`seed ${seed}: ${what}`);
}
