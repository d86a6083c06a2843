import { type Fact, factVersion, type Message, type ModelRequest, type ToolSpec } from "@loopwright/core";
import { at, createRequestBuilder, fold, type RequestBuilder, type State } from "@loopwright/core/internals";
import { loopScenario } from "./loop-scenario.ts";
import { simulateLoop } from "./loop-simulator.ts";

/**
 * Every request that the log of one simulated session can lead to: for each prefix of the log where nothing is pending, what the
 * request builder makes of it, and for the whole log also as if it had been compacted. What was just built is left out. The
 * sessions are rough: crashes, aborts, branches, forged facts, blank texts, images, ids that repeat, thinking and opaque data of
 * every vendor. The same seed gives the same requests; messages keep their identity from one to the next, as in a real session.
 */
export function requestsOfLog(seed: number): readonly ModelRequest[] {
  const tools = Object.keys(loopScenario(seed).tools).map(specOf);
  const { states } = simulateLoop(seed, { steps: 40 });
  const builder = createRequestBuilder();
  const histories: (readonly Message[])[] = [];
  for (const state of states) {
    const { messages } = builder.build(state);
    // The list grows with the session: what it was at this place is a copy.
    if (messages && !isSame(messages, histories.at(-1))) histories.push([...messages]);
  }
  histories.push(...compactedHistories(states.at(-1) as State, builder));
  return histories.map((messages, i) => ({
    model: "any",
    messages,
    ...(seed % 2 === 0 ? { system: [{ text: "Be brief.", source: "agent", cache: "stable" as const }] } : {}),
    // The last turn that a limit allows goes without tools.
    ...((seed + i) % 4 === 0 ? {} : { tools }),
  }));
}

/** The session as it is with a stretch of its messages summed up, from every message on to the one two thirds ahead. */
function compactedHistories(state: State, builder: RequestBuilder): readonly (readonly Message[])[] {
  const ids = Array.from({ length: state.history.length }, (_, place) => at(state.history, place)?.id ?? "");
  return ids.flatMap((from, place) => {
    const to = ids[place + Math.floor(((ids.length - place) * 2) / 3)];
    if (to === undefined || state.run) return [];
    const fact: Fact = { type: "context.compacted", from, to, summary: "They spoke.", seq: state.seq + 1, at: 0, v: factVersion };
    const { messages } = builder.build(fold(state, fact));
    return messages ? [messages] : [];
  });
}

function isSame(messages: readonly Message[], other: readonly Message[] | undefined): boolean {
  return messages.length === other?.length && messages.every((message, i) => message === other[i]);
}

function specOf(name: string): ToolSpec {
  return { name, description: `The tool ${name}.`, parameters: { type: "object", properties: { of: { type: "string" } } } };
}
