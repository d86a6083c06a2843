import type { AgentEvent, AssistantPart, CallOutcome, ExecuteResult, Message, SessionSnapshot } from "@loopwright/core/protocol";
import { readUIMessageStream, type UIMessage, type UIMessageChunk, uiMessageChunkSchema } from "ai";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { UiChunk } from "./ui-chunk.ts";
import { UiChunks } from "./ui-chunks.ts";
import { uiMessagesOf } from "./ui-messages.ts";

const runId = "run1";

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
  readonly outcome: Exclude<CallOutcome, "denied">;
}

const deltas = fc.array(fc.constantFrom("a", "b", "ab", "☔", "", "\n"), { maxLength: 4 });
const block: fc.Arbitrary<Block> = fc.record({ kind: fc.constantFrom("text", "thinking", "call"), deltas });
const blocks = fc.array(block, { maxLength: 4 });
const turn: fc.Arbitrary<Turn> = fc.record({
  discarded: fc.array(blocks, { maxLength: 2 }),
  blocks,
  seen: fc.constantFrom("deltas", "snapshot first", "snapshot last", "only the end"),
  isFiltered: fc.boolean(),
  outcome: fc.constantFrom("ok", "error", "expired"),
});

const event = (body: object): AgentEvent => body as AgentEvent;

function contentOf(turnNumber: number, given: readonly Block[]): readonly AssistantPart[] {
  let calls = 0;
  return given.map(({ kind, deltas: pieces }) => {
    const text = pieces.join("");
    if (kind !== "call") return { type: kind, text };
    const callKey = `${runId}.${turnNumber}.${calls}`;
    calls += 1;
    return { type: "tool_call", callKey, id: "call_1", name: "look", args: { text } };
  });
}

function streamed(given: readonly Block[]): readonly AgentEvent[] {
  return given.flatMap(({ kind, deltas: pieces }, index) => {
    const name = kind === "call" ? "toolcall" : kind;
    const toolName = kind === "call" ? { toolName: "look" } : {};
    return [
      event({ type: `${name}_start`, index, ...toolName }),
      ...pieces.map((delta) => event({ type: `${name}_delta`, index, delta })),
      ...(kind === "call" ? [] : [event({ type: `${name}_end`, index })]),
    ];
  });
}

function lastAttempt({ blocks: given, seen }: Turn, number: number): readonly AgentEvent[] {
  const half = Math.ceil(given.length / 2);
  const calls = (of: readonly Block[]): object[] =>
    of.flatMap(({ kind, deltas: pieces }, index) => (kind === "call" ? [{ index, toolName: "look", argsText: pieces.join("") }] : []));
  const snapshotOf = (of: readonly Block[]): AgentEvent =>
    event({ type: "message_snapshot", content: contentOf(number, of).filter(({ type }) => type !== "tool_call"), calls: calls(of) });
  if (seen === "only the end") return [];
  if (seen === "deltas") return streamed(given);
  if (seen === "snapshot last") return [...streamed(given.slice(0, half)), snapshotOf(given)];
  const later = streamed(given.map((one, at) => (at < half ? { ...one, deltas: [] } : one))).filter(
    (one) => "index" in one && one.index >= half,
  );
  return [snapshotOf(given.slice(0, half)), ...later];
}

interface Played {
  readonly events: readonly AgentEvent[];
  readonly messages: readonly Message[];
}

function play(turns: readonly Turn[]): Played {
  const messages: Message[] = [{ role: "user", content: "Hello" }];
  const events: AgentEvent[] = [event({ type: "message_end", messageId: "1", message: messages[0] })];
  turns.forEach((one, at) => {
    const number = at + 1;
    events.push(event({ type: "turn_start", turn: number }));
    for (const attempt of one.discarded) events.push(...streamed(attempt), event({ type: "attempt_discarded" }));
    const kept = one.isFiltered ? one.blocks.map((given) => (given.kind === "call" ? given : { ...given, deltas: ["kept"] })) : one.blocks;
    const content = contentOf(number, kept);
    const answer: Message = { role: "assistant", content, stopReason: "stop" };
    events.push(...lastAttempt(one, number), event({ type: "message_end", messageId: `a${number}`, message: answer }));
    messages.push(answer);
    for (const part of content) {
      if (part.type !== "tool_call") continue;
      const { callKey, id: toolCallId } = part;
      const text = one.outcome === "ok" ? "seen" : "not seen";
      const result: Message = {
        role: "tool_result",
        toolCallId,
        callKey,
        content: text,
        outcome: one.outcome,
        isError: one.outcome !== "ok",
      };
      events.push(
        event({ type: "tool_execution_delta", callKey, toolCallId, delta: "se" }),
        event({ type: "message_end", message: result }),
      );
      messages.push(result);
    }
    events.push(event({ type: "turn_end", turn: number }));
  });
  return { events, messages };
}

/** The session as it is stored. */
const sessionOf = (messages: readonly Message[]): SessionSnapshot =>
  ({
    status: "idle",
    head: String(messages.length),
    messages: messages.map((message, at) => ({ id: String(at + 1), parent: at === 0 ? null : String(at), runId, at: 0, message })),
  }) as unknown as SessionSnapshot;

const completed = { status: "completed", messages: [], text: "", output: undefined } as ExecuteResult;

/** What the SDK makes of a stream. It throws where a chunk does not fit. */
async function readBySdk(chunks: readonly UiChunk[], message?: UIMessage): Promise<UIMessage> {
  const { validate } = typeof uiMessageChunkSchema === "function" ? uiMessageChunkSchema() : uiMessageChunkSchema;
  for (const chunk of chunks) expect((await validate?.(chunk))?.success, JSON.stringify(chunk)).toBe(true);
  const stream = ReadableStream.from(chunks) as unknown as ReadableStream<UIMessageChunk>;
  let last = message;
  for await (const state of readUIMessageStream({ stream, terminateOnError: true, ...(message ? { message } : {}) })) last = state;
  if (!last) throw new Error("The stream has no message.");
  return last;
}

/** The parts without ids and fields that are not set. */
const plain = (parts: readonly object[]): unknown[] =>
  (JSON.parse(JSON.stringify(parts)) as Record<string, unknown>[]).map(({ type, text, state, toolCallId, input, output, errorText }) =>
    JSON.parse(JSON.stringify({ type, text, state, toolCallId, input, output, errorText })),
  );

const stored = (messages: readonly Message[]): unknown[] =>
  plain(uiMessagesOf(sessionOf(messages)).find(({ role }) => role === "assistant")?.parts ?? []);

it("gives a stream that the SDK accepts, and from which it makes the message that is stored", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 3 }), async (turns) => {
      const { events, messages } = play(turns);
      const chunks = new UiChunks({ runId });
      const given = [...chunks.start(), ...events.flatMap((one) => chunks.take(one)), ...chunks.finish(completed)];
      const message = await readBySdk(given);
      expect(message.id).toBe(runId);
      expect(plain(message.parts)).toEqual(stored(messages));
    }),
    { numRuns: 300 },
  );
});

it("continues the message of a page that has it up to the calls of a turn", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 3 }), fc.nat(1), async (drawn, at) => {
      // The SDK shows a step with its first part.
      const turns = drawn.map((one): Turn => ({ ...one, blocks: [{ kind: "text", deltas: ["x"] }, ...one.blocks] }));
      const { events, messages } = play(turns);
      const afterTurn = at + 1;
      const first = new UiChunks({ runId });
      const end = events.findIndex((one) => one.type === "turn_start" && one.turn === afterTurn + 1);
      const known = events.slice(0, end === -1 ? events.length : end).filter(({ type }) => type !== "turn_end");
      const page = await readBySdk([...first.start(), ...known.flatMap((one) => first.take(one))]);
      const more = new UiChunks({ runId, afterTurn });
      const rest = [...more.start(), ...events.flatMap((one) => more.take(one)), ...more.finish(completed)];
      expect(plain((await readBySdk(rest, page)).parts)).toEqual(stored(messages));
    }),
    { numRuns: 100 },
  );
});

it("closes what is open when a run is aborted or fails, at any event", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 2 }), fc.nat(), async (turns, at) => {
      const { events } = play(turns);
      const chunks = new UiChunks({ runId });
      const aborted = { status: "aborted", messages: [], text: "", error: { message: "Stopped.", fix: "" } } as unknown as ExecuteResult;
      const given = [
        ...chunks.start(),
        ...events.slice(0, at % events.length).flatMap((one) => chunks.take(one)),
        ...chunks.finish(aborted),
      ];
      const message = await readBySdk(given);
      for (const part of message.parts) if (part.type === "text" || part.type === "reasoning") expect(part.state).toBe("done");
      expect(given.at(-1)).toEqual({ type: "finish", finishReason: "interrupted" });
      expect(given.filter(({ type }) => type === "start-step")).toHaveLength(given.filter(({ type }) => type === "finish-step").length);
    }),
    { numRuns: 100 },
  );
});
