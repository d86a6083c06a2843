import { type ApprovalVerdict, callsOf, type Fact, type Message, type ToolResultMessage } from "@loopwright/core";
import {
  type AppendList,
  at,
  createRequestBuilder,
  emptyState,
  endOf,
  eventsOf,
  fold,
  type KnownDecision,
  plan,
  type State,
  transcriptOf,
} from "@loopwright/core/internals";
import { seededRandom } from "@loopwright/core/memory";
import { addSpent, type Spent } from "@loopwright/core/protocol";
import { loopScenario } from "../../src/loop/loop-scenario.ts";
import { simulateLoop } from "../../src/loop/loop-simulator.ts";
import { loopFactProperties } from "./loop-fact-properties.ts";
import { claim, loopToolProperties } from "./loop-tool-properties.ts";

/** What must hold for every session that the simulator can make. Each throws with the seed and what broke. */
export const loopProperties: { readonly [promise: string]: (seed: number) => void } = {
  "a calm session comes to rest": (seed) => {
    const { isResting, states } = simulateLoop(seed);
    claim(isResting, seed, `stuck: ${JSON.stringify(plan(states.at(-1) as State).effects)}`);
  },
  "every history that a model is shown is valid": (seed) => {
    for (const state of simulateLoop(seed).states) {
      const built = createRequestBuilder().build(state);
      if (built.messages) claimValid(built.messages, seed);
      else if (!built.failed) claim(isWaiting(state), seed, "nothing is pending and there is no request");
    }
  },
  "a builder that grows with the session shows what a new one shows": (seed) => {
    const growing = createRequestBuilder();
    for (const state of simulateLoop(seed).asked) {
      const [a, b] = [growing.build(state), createRequestBuilder().build(state)];
      claim(JSON.stringify(a) === JSON.stringify(b), seed, "the growing builder differs");
    }
  },
  "an effect is launched once under its id": (seed) => {
    const launched = simulateLoop(seed).launched.filter((id) => !id.endsWith("/lookup"));
    claim(new Set(launched).size === launched.length, seed, "an effect id was used twice");
  },
  "a replay of the log is the live state at every prefix, through JSON": (seed) => {
    const { facts, states } = simulateLoop(seed);
    let folded = emptyState;
    facts.forEach((fact, i) => {
      folded = fold(folded, JSON.parse(JSON.stringify(fact)) as Fact);
      claim(asValue(folded) === asValue(states[i + 1] as State), seed, `the replay differs after fact ${i + 1}`);
    });
  },
  "the results of a turn stand in call order in the transcript": (seed) => {
    for (const state of simulateLoop(seed, { steps: 30 }).asked) {
      const { messages } = transcriptOf(state);
      messages.forEach((message, i) => {
        const next = messages[i + 1];
        const isPair = message.role === "tool_result" && next?.role === "tool_result";
        claim(!isPair || ordinalOf(message) < ordinalOf(next), seed, "results out of order");
      });
    }
  },
  "any context that a session begins with gives a valid history": (seed) => {
    const context = randomContext(seed);
    const state = fold(emptyState, { type: "session.opened", agent: "a", context, seq: 1, at: 0, v: 1 });
    const built = createRequestBuilder().build(state);
    if (built.messages) claimValid(built.messages, seed);
  },
  "the last allowed model call goes without tools": (seed) => {
    const { limits } = loopScenario(seed);
    if (limits.onLimit !== "finalize") return;
    for (const { turn, withTools } of simulateLoop(seed).calls) claim(turn < limits.turnsMax || !withTools, seed, `turn ${turn} had tools`);
  },
  "a run that cannot continue ends as failed": (seed) => {
    const { facts, states } = simulateLoop(seed);
    facts.forEach((fact, i) => {
      const run = states[i]?.run;
      if (fact.type !== "run.finished" || !run || states[i + 1]?.run) return;
      const status = run.abort ? "aborted" : run.failure ? "failed" : fact.status;
      claim(fact.status === status, seed, `${fact.status} in place of ${status}`);
    });
  },
  "the state is plain data": (seed) => {
    for (const state of simulateLoop(seed, { steps: 20 }).states) claim(isPlain(state), seed, "the state holds more than JSON");
  },
  "the order in which calls end does not change what the model is shown": (seed) => {
    const shown = [1, 2, 3].map((orderSeed) =>
      simulateLoop(seed, { disturbed: false, orderSeed: seed * 7 + orderSeed }).asked.map((state) =>
        JSON.stringify(createRequestBuilder().build(state)),
      ),
    );
    claim(
      shown.every((one) => one.join() === shown[0]?.join()),
      seed,
      "the order shows",
    );
  },
  "facts that do not fit change nothing": (seed) => {
    const { states, facts } = simulateLoop(seed, { steps: 30 });
    for (const state of states) {
      for (const fact of facts.slice(0, 20)) {
        const late = { ...fact, seq: state.seq };
        claim(fold(state, late) === state, seed, "a fact with an old number was folded");
        claim(eventsOf(state, late).length === 0, seed, "a fact with an old number was published");
      }
    }
  },
  "a dropped trial leaves no trace": (seed) => {
    const { states, facts } = simulateLoop(seed, { steps: 30 });
    const values = states.map(asValue);
    for (let from = 0; from < facts.length; from += 5) {
      let state = states[from] as State;
      for (const fact of facts.slice(from, from + 4)) state = fold(state, fact);
      const other = simulateLoop(seed + 1, { steps: 4 }).facts.map((fact, i) => ({ ...fact, seq: from + 1 + i }));
      const forked = other.reduce(fold, states[from] as State);
      const alone = other.reduce(fold, facts.slice(0, from).reduce(fold, emptyState));
      claim(asValue(forked) === asValue(alone), seed, "a fork holds what its sibling appended");
      claim(asValue(state) === values[Math.min(from + 4, facts.length)], seed, "a trial changed its sibling");
      claim(asValue(states[from] as State) === values[from], seed, "a trial changed its origin");
    }
  },
  "a tool of class once starts at most once": (seed) => {
    const starts = new Map<string, number>();
    const { facts, states } = simulateLoop(seed);
    facts.forEach((fact, i) => {
      if (fact.type !== "tool.started" || states[i]?.run === states[i + 1]?.run) return;
      starts.set(fact.callKey, (starts.get(fact.callKey) ?? 0) + 1);
      claim(fact.replay !== "once" || starts.get(fact.callKey) === 1, seed, `${fact.callKey} started twice`);
    });
  },
  "a call that a person was asked about starts only once it was allowed, and none is asked about twice": (seed) => {
    const { facts, states } = simulateLoop(seed);
    const written = new Map<string, "asked" | ApprovalVerdict>();
    facts.forEach((fact, i) => {
      if (!("callKey" in fact) || fact.callKey === undefined || states[i]?.run === states[i + 1]?.run) return;
      const before = written.get(fact.callKey);
      if (fact.type === "approval.requested") {
        claim(before === undefined, seed, `${fact.callKey} was asked about twice`);
        written.set(fact.callKey, "asked");
      } else if (fact.type === "approval.decided") {
        claim(before === "asked", seed, `${fact.callKey} was decided on and had not been asked about`);
        written.set(fact.callKey, fact.decision);
      } else if (fact.type === "tool.started")
        claim(before === undefined || before === "allow", seed, `${fact.callKey} was started although ${before}`);
    });
    const known = decisionsIn(states.at(-1) as State).map(({ callKey, decision }) => [callKey, decision].join());
    const decided = [...written].flatMap(([callKey, decision]) => (decision === "asked" ? [] : [[callKey, decision].join()]));
    claim(known.sort().join(" ") === decided.sort().join(" "), seed, `${known.length} decisions known, ${decided.length} made`);
  },
  "every call gets exactly one result and every run one end": (seed) => {
    const { states } = simulateLoop(seed);
    const last = states.at(-1) as State;
    const results = new Map<string, number>();
    const asked = new Set<string>();
    for (let place = 0; place < last.history.length; place++) {
      const message = at(last.history, place)?.message;
      if (message?.role === "tool_result") results.set(message.callKey ?? "", (results.get(message.callKey ?? "") ?? 0) + 1);
      if (message?.role === "assistant") for (const call of callsOf(message)) asked.add(call.callKey);
    }
    for (const callKey of asked) claim(results.get(callKey) === 1, seed, `${callKey} has ${results.get(callKey) ?? 0} results`);
    claim(results.size === asked.size, seed, "a result without a call");
  },
  "every accepted input is in the history once": (seed) => {
    const { facts, states } = simulateLoop(seed);
    const last = states.at(-1) as State;
    const written = Array.from({ length: last.history.length }, (_, place) => at(last.history, place)?.message).filter(
      (message) => message?.role === "user",
    );
    const accepted = facts.filter((fact, i) => fact.type === "input.accepted" && states[i]?.known !== states[i + 1]?.known);
    claim(written.length === accepted.length, seed, `${accepted.length} inputs, ${written.length} sent`);
    const ids = new Set(accepted.flatMap((fact) => (fact.type === "input.accepted" ? [fact.inputId] : [])));
    claim(ids.size === accepted.length, seed, "an input was accepted twice");
  },
  "the limits hold": (seed) => {
    const { limits } = loopScenario(seed);
    const { facts, states } = simulateLoop(seed);
    const turns = new Map<string, number>();
    facts.forEach((fact, i) => {
      if (fact.type !== "model.finished" || states[i]?.run === states[i + 1]?.run) return;
      turns.set(fact.runId, (turns.get(fact.runId) ?? 0) + 1);
      claim((turns.get(fact.runId) ?? 0) <= limits.turnsMax, seed, `run ${fact.runId} had too many turns`);
    });
    claim(
      states.every((state) => runningCalls(state) <= limits.parallelMax),
      seed,
      "too many calls at once",
    );
  },
  ...loopToolProperties,
  ...loopFactProperties,
  "an aborted run calls no model and starts no tool": (seed) => {
    const { facts, states } = simulateLoop(seed);
    facts.forEach((fact, i) => {
      const before = states[i] as State;
      const isStart = (fact.type === "model.started" || fact.type === "tool.started") && before.run !== states[i + 1]?.run;
      claim(!isStart || !before.run?.abort, seed, `${fact.type} after an abort`);
    });
  },
  "events give every message of the history exactly once": (seed) => {
    const { facts, states } = simulateLoop(seed);
    const notified = facts
      .flatMap((fact, i) => eventsOf(states[i] as State, fact))
      .flatMap((event) => (event.type === "message_end" ? [event.messageId] : []));
    const last = states.at(-1) as State;
    const seeded = facts.some((fact) => fact.type === "session.opened" && fact.context) ? 1 : 0;
    claim(
      new Set(notified).size === notified.length && notified.length === last.history.length - seeded,
      seed,
      `${notified.length} notified, ${last.history.length} there`,
    );
  },
  "events give of every message which one it continues": (seed) => {
    const { facts, states } = simulateLoop(seed);
    const { history } = states.at(-1) as State;
    const parents = new Map(itemsOf(history).map((entry) => [entry.id, at(history, entry.parent)?.id ?? null]));
    for (const [i, fact] of facts.entries())
      for (const event of eventsOf(states[i] as State, fact))
        if (event.type === "message_end") claim(event.parent === parents.get(event.messageId), seed, `${event.messageId} hangs elsewhere`);
  },
  "what events report as spent is what the session has spent": (seed) => {
    const { facts, states } = simulateLoop(seed);
    let notified: Spent = {};
    for (const [i, fact] of facts.entries()) {
      for (const event of eventsOf(states[i] as State, fact))
        if ("usage" in event && event.type !== "run_end") notified = addSpent(notified, event);
      const { usage, cost } = states[i + 1] as State;
      claim(JSON.stringify([notified.usage, notified.cost]) === JSON.stringify([usage, cost]), seed, `other sums after fact ${i + 1}`);
    }
  },
  "the state knows how each run ended": (seed) => {
    const { facts, states } = simulateLoop(seed);
    const last = states.at(-1) as State;
    const ends = facts.flatMap((fact, i) => (fact.type === "run.finished" && states[i]?.run && !states[i + 1]?.run ? [fact] : []));
    claim(ends.length === last.ended.length, seed, `${ends.length} ends, ${last.ended.length} known`);
    for (const { runId, status } of ends) claim(endOf(last, runId)?.status === status, seed, `${runId} ended otherwise`);
  },
};

const isWaiting = (state: State): boolean =>
  transcriptOf(state).messages.every((message) => message.role === "assistant" && message.content.length === 0) ||
  (state.run?.calls.some((call) => call.state !== "done") ?? false);
const runningCalls = (state: State): number => (state.run?.calls ?? []).filter((call) => call.state === "running" && !call.inDoubt).length;

/** The state as a value: what two equal states share. */
function asValue(state: State): string {
  return JSON.stringify({
    ...state,
    history: itemsOf(state.history),
    known: itemsOf(state.known),
    ended: itemsOf(state.ended),
    decisions: decisionsIn(state),
  });
}

const decisionsIn = ({ decisions }: State): readonly KnownDecision[] => (decisions ? itemsOf(decisions) : []);

const itemsOf = <T>(list: AppendList<T>): readonly T[] => Array.from({ length: list.length }, (_, place) => at(list, place) as T);

const isPlain = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null)
    return typeof value !== "function" && typeof value !== "bigint" && typeof value !== "symbol";
  const prototype: unknown = Object.getPrototypeOf(value);
  return (Array.isArray(value) || prototype === Object.prototype) && Object.values(value).every(isPlain);
};

const ordinalOf = (message: ToolResultMessage): number => Number(message.callKey?.slice(message.callKey.lastIndexOf(".") + 1));

/** Messages as a careless application may seed them: calls without results, results without calls, empty ones. */
function randomContext(seed: number): readonly Message[] {
  const random = seededRandom(seed);
  return Array.from({ length: 1 + Math.floor(random() * 8) }, (_, i): Message => {
    const chance = random();
    if (chance < 0.3) return { role: "user", content: random() < 0.2 ? " " : `say ${i}` };
    if (chance < 0.5) return { role: "tool_result", toolCallId: `call${Math.floor(random() * i)}`, content: random() < 0.2 ? "" : "found" };
    if (chance < 0.6) return { role: "notice", text: random() < 0.2 ? "" : "Mind this." };
    const call = { type: "tool_call", callKey: `call${i}`, id: `call${i}`, name: "t", args: {} } as const;
    const text = { type: "text", text: random() < 0.2 ? "" : `answer ${i}` } as const;
    return {
      role: "assistant",
      content: random() < 0.5 ? [text, call] : random() < 0.8 ? [text] : [],
      stopReason: random() < 0.2 ? "aborted" : "stop",
    };
  });
}

/** The strict rules that all vendors share. */
function claimValid(messages: readonly Message[], seed: number): void {
  claim(messages[0]?.role === "user", seed, "does not begin with a user");
  claim(messages.at(-1)?.role !== "assistant", seed, "ends with an assistant");
  messages.forEach((message, i) => {
    if (message.role !== "assistant") {
      const text = message.role === "notice" ? message.text : JSON.stringify(message.content);
      claim(text !== "" && text !== '""' && text !== "[]", seed, "an empty message");
      if (message.role === "tool_result") claim(isAnswer(messages, i), seed, "a result without its call");
      return;
    }
    claim(message.content.length > 0 && messages[i - 1]?.role !== "assistant", seed, "an empty or doubled answer");
    const isBlank = message.content.some((part) => part.type === "text" && part.text.trim() === "" && !part.opaque);
    claim(!isBlank, seed, "a blank text");
    callsOf(message).forEach((call, k) => {
      const result = messages[i + 1 + k];
      claim(
        result?.role === "tool_result" && (result.callKey ?? result.toolCallId) === call.callKey,
        seed,
        `no result for ${call.callKey}`,
      );
    });
  });
}

function isAnswer(messages: readonly Message[], place: number): boolean {
  let before = place;
  while (messages[before]?.role === "tool_result") before--;
  const asker = messages[before];
  return asker?.role === "assistant" && callsOf(asker).length >= place - before;
}
