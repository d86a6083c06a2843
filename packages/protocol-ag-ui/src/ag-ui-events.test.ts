import { HttpAgent } from "@ag-ui/client";
import type { AgentEvent, AssistantPart, CallOutcome, ExecuteResult, Message, SessionSnapshot } from "@loopwright/core/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { AgUiEvent, AgUiMessage } from "./ag-ui-event.ts";
import { AgUiEvents } from "./ag-ui-events.ts";
import { threadMessages } from "./ag-ui-messages.ts";

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
const user: AgUiMessage = { id: "m1", role: "user", content: "Hello" };
const options = { threadId: "t", pageRunId: "page", runId };

/** The messages that the SDK makes of a stream. It throws where an event is not legal at its place. */
async function readBySdk(events: readonly AgUiEvent[], known: readonly AgUiMessage[]): Promise<readonly AgUiMessage[]> {
  const text = events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
  const fetchOf = async (): Promise<Response> => new Response(text, { headers: { "content-type": "text/event-stream" } });
  const initialMessages = known as unknown as NonNullable<ConstructorParameters<typeof HttpAgent>[0]["initialMessages"]>;
  const agent = new HttpAgent({ url: "http://localhost", threadId: "t", initialMessages, fetch: fetchOf });
  await agent.runAgent({ runId: "page" });
  return agent.messages as unknown as readonly AgUiMessage[];
}

const parsed = (text: unknown): unknown => (typeof text === "string" ? JSON.parse(text) : text);

/** The messages of the answer, in the order of their ids: reasoning that came after text stands after it. Arguments as values, no empty texts. */
const plain = (messages: readonly AgUiMessage[]): unknown[] =>
  messages
    .filter(({ role }) => role !== "user")
    .map(({ error: _, toolCalls, content, ...message }) => ({
      ...message,
      content: content ?? "",
      calls: ((toolCalls ?? []) as readonly { id: string; function: { name: string; arguments: string } }[]).map(
        ({ id, function: called }) => [...[id, called.name, parsed(called.arguments)]],
      ),
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));

/** An answer without any part is none for the SDK. */
const isShown = ({ role, content, toolCalls }: AgUiMessage): boolean => role === "tool" || Boolean(content) || toolCalls !== undefined;
const stored = (messages: readonly Message[]): unknown[] => plain(threadMessages(sessionOf(messages)).filter(isShown));

it("gives a stream that the SDK accepts, and from which it makes the messages that are stored", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 3 }), async (turns) => {
      const { events, messages } = play(turns);
      const mapped = new AgUiEvents({ ...options, known: [user] });
      const given = [...mapped.start(), ...events.flatMap((one) => mapped.take(one)), ...mapped.finish(completed)];
      expect(plain((await readBySdk(given, [user])).filter(isShown))).toEqual(stored(messages));
    }),
    { numRuns: 200 },
  );
});

it("continues the run of a page that has it up to the calls of a turn", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 3 }), fc.nat(1), async (turns, at) => {
      const { events, messages } = play(turns);
      const afterTurn = at + 1;
      const first = new AgUiEvents({ ...options, known: [user] });
      const end = events.findIndex((one) => one.type === "turn_start" && one.turn === afterTurn + 1);
      const before = events.slice(0, end === -1 ? events.length : end);
      const page = await readBySdk([...first.start(), ...before.flatMap((one) => first.take(one)), ...first.finish(completed)], [user]);
      const more = new AgUiEvents({ ...options, afterTurn, known: page });
      const rest = [...more.start(), ...events.flatMap((one) => more.take(one)), ...more.finish(completed)];
      expect(plain((await readBySdk(rest, page)).filter(isShown))).toEqual(stored(messages));
    }),
    { numRuns: 100 },
  );
});

it("closes what is open when a run is aborted, at any event", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 2 }), fc.nat(), async (turns, at) => {
      const { events } = play(turns);
      const mapped = new AgUiEvents({ ...options, known: [user] });
      const aborted = { status: "aborted", messages: [], text: "", error: { message: "Stopped.", fix: "" } } as unknown as ExecuteResult;
      const given = [
        ...mapped.start(),
        ...events.slice(0, at % events.length).flatMap((one) => mapped.take(one)),
        ...mapped.finish(aborted),
      ];
      await readBySdk(given, [user]);
      expect(given.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "cancelled" } });
    }),
    { numRuns: 100 },
  );
});
