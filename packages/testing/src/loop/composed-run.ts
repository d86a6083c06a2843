/*
 * Owns: one run, composed block by block from a seed, as readers get it that come early, late or with gaps: each turn has attempts that were discarded, an
 * answer that a filter may have changed, and its calls. Does not own: what a driver makes of a session (simulated-runs).
 */
import type { AgentEvent, AssistantPart, Message, RunStatus, SessionSnapshot } from "@loopwright/core";
import type { DurableBody, EphemeralBody } from "@loopwright/core/internals";
import { seededRandom } from "@loopwright/core/memory";

/** A block of an answer, with its text in the deltas in which it comes. */
interface Block {
  readonly kind: "text" | "thinking" | "call";
  readonly deltas: readonly string[];
}

interface Turn {
  /** Attempts that were thrown away. */
  readonly discarded: readonly (readonly Block[])[];
  readonly blocks: readonly Block[];
  /** How the reader gets the last attempt. */
  readonly seen: "deltas" | "snapshot first" | "snapshot last" | "only the end";
  /** A filter of the agent has changed what was streamed. */
  readonly isFiltered: boolean;
  readonly outcome: "ok" | "error" | "expired";
}

/** A composed run. */
export interface ComposedRun {
  readonly runId: string;
  readonly events: readonly AgentEvent[];
  /** What the session keeps of it, the user's message first. */
  readonly messages: readonly Message[];
  /** A session that has nothing else. */
  readonly session: SessionSnapshot;
  readonly turnCount: number;
}

export interface ComposeOptions {
  readonly turnsMin?: number;
  readonly turnsMax?: number;
  /** How it ends. Default `completed`. */
  readonly status?: RunStatus;
  /** Every answer begins with text. Default false. */
  readonly beginsWithText?: boolean;
}

const sessionId = "composed";
const runId = "run1";
const deltas = ["a", "b", "ab", "☔", "", "\n"] as const;

type Random = () => number;
const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const listOf = <T>(random: Random, max: number, one: () => T): readonly T[] =>
  Array.from({ length: Math.floor(random() * (max + 1)) }, one);

function turnOf(random: Random, beginsWithText: boolean): Turn {
  const block = (): Block => ({
    kind: pick(random, ["text", "thinking", "call"]),
    deltas: listOf(random, 4, () => pick(random, deltas)),
  });
  const first: readonly Block[] = beginsWithText ? [{ kind: "text", deltas: ["x"] }] : [];
  return {
    discarded: listOf(random, 2, () => listOf(random, 4, block)),
    blocks: [...first, ...listOf(random, 4, block)],
    seen: pick(random, ["deltas", "snapshot first", "snapshot last", "only the end"]),
    isFiltered: random() < 0.5,
    outcome: pick(random, ["ok", "error", "expired"]),
  };
}

function contentOf(turn: number, blocks: readonly Block[]): readonly AssistantPart[] {
  let calls = 0;
  return blocks.map(({ kind, deltas: pieces }) => {
    const text = pieces.join("");
    if (kind !== "call") return { type: kind, text };
    const callKey = `${runId}.${turn}.${calls}`;
    calls += 1;
    return { type: "tool_call", callKey, id: "call_1", name: "look", args: { text } };
  });
}

function streamed(blocks: readonly Block[], from = 0): readonly EphemeralBody[] {
  return blocks.slice(from).flatMap(({ kind, deltas: pieces }, at): readonly EphemeralBody[] => {
    const index = from + at;
    if (kind === "call")
      return [
        { type: "toolcall_start", index, toolName: "look" },
        ...pieces.map((delta) => ({ type: "toolcall_delta", index, delta }) as const),
      ];
    const end: EphemeralBody =
      kind === "text" ? { type: "text_end", index, text: pieces.join("") } : { type: "thinking_end", index, thinking: pieces.join("") };
    return [{ type: `${kind}_start`, index }, ...pieces.map((delta) => ({ type: `${kind}_delta`, index, delta }) as const), end];
  });
}

function snapshotOf(turn: number, blocks: readonly Block[]): EphemeralBody {
  const calls = blocks.flatMap(({ kind, deltas: pieces }, index) =>
    kind === "call" ? [{ index, id: "call_1", toolName: "look", argsText: pieces.join("") }] : [],
  );
  return { type: "message_snapshot", content: contentOf(turn, blocks).filter(({ type }) => type !== "tool_call"), calls };
}

function lastAttempt({ blocks, seen }: Turn, turn: number): readonly EphemeralBody[] {
  const half = Math.ceil(blocks.length / 2);
  if (seen === "only the end") return [];
  if (seen === "deltas") return streamed(blocks);
  if (seen === "snapshot last") return [...streamed(blocks.slice(0, half)), snapshotOf(turn, blocks)];
  return [snapshotOf(turn, blocks.slice(0, half)), ...streamed(blocks, half)];
}

/** The log of the run as it grows, and what is streamed between its facts. */
class Course {
  readonly events: AgentEvent[] = [];
  readonly messages: Message[] = [];
  #seq = 0;
  #lane = 0;
  #n = 0;

  record(body: DurableBody): void {
    this.#seq += 1;
    this.events.push({ ...body, seq: this.#seq, k: 0, at: this.#seq, sessionId, runId });
  }

  openLane(): void {
    this.#lane = this.#seq;
    this.#n = 0;
  }

  stream(bodies: readonly EphemeralBody[]): void {
    for (const body of bodies) this.events.push({ ...body, lane: this.#lane, n: ++this.#n });
  }

  say(message: Message, usage?: { readonly output: number }): void {
    this.messages.push(message);
    const id = this.messages.length;
    const parent = id === 1 ? null : String(id - 1);
    this.record({ type: "message_end", messageId: String(id), parent, message, ...(usage ? { usage } : {}) });
  }
}

function playTurn(course: Course, one: Turn, turn: number): void {
  course.record({ type: "turn_start", turn });
  one.discarded.forEach((blocks, at) => {
    course.openLane();
    course.stream(streamed(blocks));
    course.record({ type: "attempt_discarded", turn, attempt: at + 1, code: "MODEL_OVERLOADED", reason: "busy", willRetry: true });
  });
  course.openLane();
  course.stream(lastAttempt(one, turn));
  const kept = one.isFiltered ? one.blocks.map((block) => (block.kind === "call" ? block : { ...block, deltas: ["kept"] })) : one.blocks;
  const content = contentOf(turn, kept);
  course.say({ role: "assistant", content, stopReason: "stop" }, { output: 1 });
  for (const part of content) {
    if (part.type !== "tool_call") continue;
    const { callKey, name: toolName, id: toolCallId, args } = part;
    const call = { callKey, toolCallId, toolName };
    const text = one.outcome === "ok" ? "seen" : "not seen";
    course.record({ type: "tool_execution_start", ...call, args, attempt: 1 });
    course.openLane();
    course.stream([{ type: "tool_execution_delta", callKey, toolCallId, delta: "se" }]);
    course.record({ type: "tool_execution_end", ...call, outcome: one.outcome, output: [{ type: "text", text }] });
    course.say({ role: "tool_result", ...call, content: text, outcome: one.outcome, isError: one.outcome !== "ok" });
  }
  course.record({ type: "turn_end", turn });
}

/** A run from a number, the same for the same one. */
export function composedRun(
  seed: number,
  { turnsMin = 1, turnsMax = 3, status = "completed", beginsWithText = false }: ComposeOptions = {},
): ComposedRun {
  const random = seededRandom(seed);
  const turns = Array.from({ length: turnsMin + Math.floor(random() * (turnsMax - turnsMin + 1)) }, () => turnOf(random, beginsWithText));
  const course = new Course();
  course.record({ type: "input_accepted", inputId: "i1", mode: "enqueue" });
  course.record({ type: "run_start", model: "m", provider: "p" });
  course.say({ role: "user", content: "Hello" });
  for (const [at, one] of turns.entries()) playTurn(course, one, at + 1);
  if (status !== "completed") course.record({ type: "error", reason: "error", code: "MODEL_AUTH", error: "No." });
  course.record({ type: "run_end", status, reason: "answer", usage: { output: turns.length } });
  const { events, messages } = course;
  const stored = messages.map((message, at) => ({ id: String(at + 1), parent: at === 0 ? null : String(at), runId, at: 0, message }));
  const session = { sessionId, status: "idle", head: String(messages.length), messages: stored, waiting: [] } as unknown as SessionSnapshot;
  return { runId, events, messages, session, turnCount: turns.length };
}
