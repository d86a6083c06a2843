import {
  type AssistantMessage,
  createAssembler,
  type EphemeralEvent,
  type Fact,
  type FactOf,
  type Message,
  type MessageId,
  type ModelChunk,
  type SessionEvent,
  type SessionSnapshot,
} from "@loopwright/core";
import {
  createModelPublisher,
  createStreamedAnswers,
  type EphemeralBody,
  emptyState,
  foldReadFacts,
  isAtRest,
  type State,
  type StreamedLane,
  snapshotOf,
  transcriptOf,
} from "@loopwright/core/internals";
import { seededRandom } from "@loopwright/core/memory";
import { simulateLoop } from "./loop-simulator.ts";
import type { SimulationOptions } from "./simulation.ts";

/** One fact of a simulated session, as watchers see it. */
export interface SimulatedStep {
  /** The events of the fact, then those of the open lanes before the next one. */
  readonly events: readonly SessionEvent[];
  /** The session after them. */
  snapshot(): SessionSnapshot;
  /** The state of each open lane by then. */
  lanes(): readonly EphemeralEvent[];
  /** True where the run waits for people or clients, and nothing else happens in it. */
  readonly isAsking: boolean;
  /** The path that people see. */
  transcript(): { readonly ids: readonly MessageId[]; readonly messages: readonly Message[] };
}

const sessionId = "simulated";

/**
 * A session made by the loop simulator, one step for each fact: rough (crashes, aborts, steered inputs, branches, forged facts, client calls,
 * usage with and without a price) and the same for the same seed. The first two steps open it.
 */
export function simulatedSession(
  seed: number,
  { steps = 40, isWide = false }: Pick<SimulationOptions, "steps" | "isWide"> = {},
): readonly SimulatedStep[] {
  const facts = simulateLoop(seed, { steps, isWide }).facts;
  const lanes = new Map<number, SimulatedLane>();
  const answers = createStreamedAnswers();
  let state = emptyState;
  return facts.map((fact, i) => {
    const published = foldReadFacts(state, [withSpending(fact, state, seed)], sessionId);
    // As the hub of a driver: what a lane has not sent of an answer comes right before the end of the answer.
    const durable = published.events.flatMap((event): SessionEvent[] => [...answers.before(event, lanes), event]);
    const before = state;
    state = published.state;
    const after = state;
    const random = seededRandom(seed * 31 + i);
    for (const lane of openLanes(after)) if (!lanes.has(lane)) lanes.set(lane, laneOf(facts, lane, { random, isWide }));
    for (const lane of openLanes(before)) if (!openLanes(after).includes(lane)) lanes.delete(lane);
    const written = [...lanes].flatMap(([id, lane]) => lane.say(random).map((body) => ({ ...body, lane: id }) as EphemeralEvent));
    const now = [...lanes].map(([lane, { snapshot, n }]) => ({ ...snapshot(), lane, n }) as EphemeralEvent);
    return {
      events: [...durable, ...written],
      snapshot: () => snapshotOf(after, sessionId),
      lanes: () => now,
      isAsking: isAsking(after),
      transcript: () => transcriptOf(after),
    };
  });
}

function isAsking(state: State): boolean {
  if (!state.run || !isAtRest(state)) return false;
  const { pendingToolCalls = [], pendingApprovals = [] } = snapshotOf(state, sessionId).run ?? {};
  return pendingToolCalls.length + pendingApprovals.length > 0;
}

function openLanes({ run }: State): readonly number[] {
  const tools = (run?.calls ?? []).flatMap((call) => (call.state === "running" && call.lane !== undefined ? [call.lane] : []));
  return [...(run?.open ? [run.open.lane] : []), ...tools];
}

/** Some calls have a price, some only tokens; a tool that did not run spent nothing. */
function withSpending(fact: Fact, { run }: State, seed: number): Fact {
  if (fact.type !== "model.finished" && fact.type !== "model.failed" && fact.type !== "tool.finished") return fact;
  const call = fact.type === "tool.finished" && run?.calls.find(({ part }) => part.callKey === fact.callKey);
  if (call && call.state !== "running") return fact;
  const random = seededRandom(seed + fact.seq);
  if (random() < 0.3) return fact;
  const usage = { input: Math.floor(random() * 500), output: Math.floor(random() * 50) };
  return { ...fact, usage, ...(random() < 0.7 ? { cost: { totalUsd: Math.floor(random() * 64) / 1024 } } : {}) };
}

interface SimulatedLane extends StreamedLane {
  say(random: () => number): readonly (EphemeralBody & { readonly n: number })[];
  readonly snapshot: () => EphemeralBody;
}

/** What a model call or a tool will stream: the content of its closing fact, in pieces. */
function laneOf(
  facts: readonly Fact[],
  lane: number,
  { random, isWide }: { readonly random: () => number; readonly isWide: boolean },
): SimulatedLane {
  const intent = facts[lane - 1];
  if (intent?.type === "tool.started") return toolLane(intent, random);
  const closing = facts.slice(lane).find(({ type }) => closesModelLane.has(type));
  if (isWide && closing?.type !== "model.finished") return modelLane(draft(lane, random), random);
  const end = facts.slice(lane).find((fact) => fact.type === "model.finished" || fact.type === "owner.claimed");
  return modelLane(end?.type === "model.finished" ? end.message : { role: "assistant", content: [], stopReason: "stop" }, random);
}

const closesModelLane: ReadonlySet<Fact["type"]> = new Set(["model.finished", "model.failed", "owner.claimed"]);

/** What an attempt streams that is discarded: some of it begins as the answer of a later attempt may. */
function draft(lane: number, random: () => number): AssistantMessage {
  const thinking = random() < 0.5 ? [{ type: "thinking", text: `draft ${lane}` } as const] : [];
  const text = random() < 0.5 ? "turn " : `turn 1, or rather ${lane}`;
  const call = { type: "tool_call", callKey: `draft.${lane}`, id: "draft", name: "draft", args: { lane } } as const;
  const content = [...thinking, { type: "text", text } as const, ...(random() < 0.3 ? [call] : [])];
  return { role: "assistant", content, stopReason: "stop" };
}

function toolLane({ callKey }: FactOf<"tool.started">, random: () => number): SimulatedLane {
  const place = { toolCallId: callKey, callKey };
  let output = "";
  const sayOne = (n: number): EphemeralBody => {
    if (random() < 0.3)
      return { type: "progress", callKey, id: `step${n % 3}`, title: `Step ${n}`, state: random() < 0.5 ? "open" : "done" };
    const delta = `line ${n}\n`;
    output += delta;
    return { type: "tool_execution_delta", ...place, delta };
  };
  return {
    n: 0,
    say(chance) {
      return Array.from({ length: Math.floor(chance() * 3) }, () => ({ ...sayOne(++this.n), n: this.n }));
    },
    snapshot: () => ({ type: "tool_execution_snapshot", ...place, output }),
  };
}

function modelLane(message: AssistantMessage, random: () => number): SimulatedLane {
  const assembler = createAssembler();
  const publisher = createModelPublisher(assembler);
  const chunks = chunksOf(message, random);
  return {
    n: 0,
    say(chance) {
      const some = chunks.splice(0, Math.floor(chance() * 4));
      for (const chunk of some) assembler.push(chunk);
      return publisher.publish(some).map((body) => ({ ...body, n: ++this.n }));
    },
    snapshot: () => ({ type: "message_snapshot", content: assembler.partial() }),
  };
}

function chunksOf({ content }: AssistantMessage, random: () => number): ModelChunk[] {
  return content.flatMap((part, index): readonly ModelChunk[] => {
    if (part.type === "tool_call") {
      const args = JSON.stringify(part.args);
      return [
        { type: "call-start", index, id: part.id, name: part.name },
        { type: "call-args", index, delta: args },
        { type: "call-end", index },
      ];
    }
    if (part.type !== "text" && part.type !== "thinking") return [];
    const cut = Math.floor(random() * part.text.length);
    const pieces = [part.text.slice(0, cut), part.text.slice(cut)].filter((piece) => piece !== "");
    return pieces.map((delta) => ({ type: part.type, index, delta }));
  });
}
