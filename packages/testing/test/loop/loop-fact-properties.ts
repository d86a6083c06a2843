import { eventsOf, isAtRest, isAwaited, plan, type State } from "@loopwright/core/internals";
import { simulateLoop } from "../../src/loop/loop-simulator.ts";
import { claim } from "./loop-tool-properties.ts";

/** What must hold of children, schedules and the ids of answers. */
export const loopFactProperties: { readonly [promise: string]: (seed: number) => void } = {
  "the id of an answer is known when it begins, and the same over all attempts of its turn": (seed) => {
    const { facts, states } = simulateLoop(seed);
    let begun: { readonly turn: string; readonly id: string | undefined } | undefined;
    facts.forEach((fact, i) => {
      for (const event of eventsOf(states[i] as State, fact)) {
        if (event.type === "message_start" && event.role === "assistant") {
          const turn = "turn" in fact ? `${fact.runId}.${fact.turn}` : "";
          claim(event.messageId !== undefined, seed, `an answer without an id after fact ${i + 1}`);
          claim(begun?.turn !== turn || begun.id === event.messageId, seed, `another id for another attempt after fact ${i + 1}`);
          begun = { turn, id: event.messageId };
        }
        if (event.type === "message_end" && event.message.role === "assistant")
          claim(event.messageId === begun?.id, seed, `${event.messageId} was begun as ${begun?.id}`);
      }
    });
  },
  "a run whose open calls all wait for others needs no process and owes nothing": (seed) => {
    for (const state of simulateLoop(seed).states) {
      const open = (state.run?.calls ?? []).filter(({ state: stands }) => stands !== "done");
      if (open.length === 0 || !open.every(isAwaited) || state.run?.abort) continue;
      const { facts, effects } = plan(state);
      claim(isAtRest(state) && facts.length + effects.length === 0, seed, `${open.length} calls wait, and something is owed`);
    }
  },
  "the call of a child gets its result from `child.finished`, and no `tool.finished` follows": (seed) => {
    const { facts, states } = simulateLoop(seed);
    const ended = new Set<string>();
    facts.forEach((fact, i) => {
      if (states[i]?.run === states[i + 1]?.run) return;
      const callsOf = (state: State | undefined) => state?.run?.calls ?? [];
      if (fact.type === "child.finished") {
        const before = callsOf(states[i]).filter(({ state }) => state === "awaiting_child");
        const after = new Set(callsOf(states[i + 1]).flatMap(({ part, state }) => (state === "done" ? [part.callKey] : [])));
        for (const { part, child } of before) {
          claim(after.has(part.callKey) === (child?.session === fact.session), seed, `${part.callKey} is settled by another child`);
          if (child?.session === fact.session) ended.add(part.callKey);
        }
      }
      if (fact.type === "tool.finished") claim(!ended.has(fact.callKey), seed, `${fact.callKey} ended twice`);
    });
  },
  "a date of a schedule brings one input": (seed) => {
    const { facts, states } = simulateLoop(seed);
    const fired = new Set<string>();
    facts.forEach((fact, i) => {
      if (fact.type !== "input.accepted" || fact.origin?.type !== "schedule" || states[i]?.known === states[i + 1]?.known) return;
      const set = facts.slice(0, i).filter((other) => other.type === "schedule.set").length;
      const key = `${set} ${fact.idempotencyKey}`;
      claim(!fired.has(key), seed, `${fact.idempotencyKey} fired twice`);
      fired.add(key);
      const left = states[i + 1]?.schedules?.find(({ id }) => id === (fact.origin?.type === "schedule" ? fact.origin.schedule : ""));
      claim(left === undefined || left.due > fact.at, seed, `${fact.idempotencyKey} is due again`);
    });
  },
};
