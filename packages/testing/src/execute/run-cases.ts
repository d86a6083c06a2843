import { AgentError, addCost, addUsage, textOf } from "@loopwright/core";
import { assertEventStream } from "../events/event-stream.ts";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { clockTool, type ExecuteUnderTest, executeCase, ofType, readAll, reading } from "./execute-under-test.ts";

const usage = { input: 10, output: 5 };
const callsClock = { text: "Let me look.", calls: [{ name: "clock" }, { name: "clock" }], usage };

/** How runs go and end. */
export const executeRunCases: StoreKit<ExecuteUnderTest> = [
  executeCase(
    { id: "text", promise: "an answer comes in deltas that add up to it, and is the result" },
    { script: (gate) => [{ thinking: "Hm, hm.", text: "Grüße, 世界! 🚀 So it is.", usage, after: gate }] },
    async ({ execute, release }) => {
      const stream = execute("s1", "hello");
      const read = reading(stream);
      await read.seen("turn_start");
      release();
      const events = await read.all;
      assertEventStream(events);
      const deltas = ofType(events, "text_delta").map(({ delta }) => delta);
      expectSame(deltas.join(""), "Grüße, 世界! 🚀 So it is.", "the deltas");
      expectThat(deltas.length > 3, `the text came in ${deltas.length} deltas`);
      const { status, text, finishReason, messages } = await stream.result();
      expectSame([status, text, finishReason], ["completed", "Grüße, 世界! 🚀 So it is.", "stop"], "the result");
      expectSame(
        messages.map(({ role }) => role),
        ["user", "assistant"],
        "the messages",
      );
    },
  ),
  {
    needs: ["first words"],
    ...executeCase(
      { id: "first-words", promise: "an answer that comes at once comes in deltas all the same" },
      { script: [{ text: "At once, as a whole." }] },
      async ({ execute }) => {
        const events = await readAll(execute("s1", "hello"));
        assertEventStream(events);
        const deltas = ofType(events, "text_delta").map(({ delta }) => delta);
        expectSame(deltas.join(""), "At once, as a whole.", "the deltas");
      },
    ),
  },
  executeCase(
    { id: "tools", promise: "server tools run, and their results stand in call order" },
    { script: [callsClock, { text: "It is noon.", usage }], tools: [clockTool] },
    async ({ execute, transcript }) => {
      const stream = execute("s1", "What time is it?");
      const events = await readAll(stream);
      assertEventStream(events);
      expectSame(
        ofType(events, "tool_execution_end").map(({ outcome }) => outcome),
        ["ok", "ok"],
        "the outcomes",
      );
      const { messages, text } = await stream.result();
      expectSame(text, "It is noon.", "the text");
      expectSame(
        messages.map(({ role }) => role),
        ["user", "assistant", "tool_result", "tool_result", "assistant"],
        "the messages",
      );
      expectSame(messages, await transcript("s1"), "the messages against the transcript");
      expectSame(ofType(events, "session_end")[0]?.messages, messages, "the messages of session_end");
    },
  ),
  executeCase(
    { id: "spending", promise: "usage and cost of an execution are the sums of its calls" },
    { script: [callsClock, { text: "It is noon.", usage: { input: 30, output: 7 } }, { text: "Bye.", usage }], tools: [clockTool] },
    async ({ execute }) => {
      const first = await execute("s1", "What time is it?").result();
      expectSame(first.usage, addUsage(usage, { input: 30, output: 7 }), "the usage");
      expectSame(first.cost?.totalUsd.toFixed(6), addCost({ totalUsd: 0.02 }, { totalUsd: 0.044 })?.totalUsd.toFixed(6), "the cost");
      const second = await execute("s1", "Thanks").result();
      expectSame(second.usage, usage, "the usage of the second execution");
    },
  ),
  executeCase(
    { id: "retry", promise: "a failed attempt is thrown away, and the next one answers" },
    {
      script: [
        { text: "Half", error: "MODEL_OVERLOADED" },
        { text: "Whole.", usage },
      ],
    },
    async ({ execute }) => {
      const stream = execute("s1", "hello");
      const events = await readAll(stream);
      assertEventStream(events);
      expectSame(
        ofType(events, "attempt_discarded").map(({ willRetry }) => willRetry),
        [true],
        "the discarded attempts",
      );
      expectSame((await stream.result()).text, "Whole.", "the text");
    },
  ),
  executeCase(
    { id: "error", promise: "a model that fails for good ends the run as error, with its code, in the result and not as a rejection" },
    { script: [{ error: new AgentError("MODEL_AUTH", { message: "The key is wrong." }) }] },
    async ({ execute }) => {
      const stream = execute("s1", "hello");
      const events = await readAll(stream);
      assertEventStream(events);
      const { status, error, runId } = await stream.result();
      expectSame([status, error?.code, error?.message], ["error", "MODEL_AUTH", "The key is wrong."], "the result");
      expectThat(runId !== undefined && error?.runId === runId, "the error does not name its run");
      expectSame(events.at(-1)?.type, "execute_complete", "the last event");
    },
  ),
  executeCase(
    { id: "limit", promise: "a run that reaches its limit of turns reports it" },
    { script: [callsClock, { text: "I stop here." }], tools: [clockTool], limits: { turnsMax: 2 } },
    async ({ execute }) => {
      const { status, limit, text } = await execute("s1", "hello").result();
      expectSame([status, limit, text], ["completed", { which: "turns", value: 2 }, "I stop here."], "the result");
    },
  ),
  executeCase(
    { id: "late-reader", promise: "a run does not wait for its reader, which gets every event later" },
    { script: [callsClock, { text: "It is noon." }], tools: [clockTool] },
    async ({ execute }) => {
      const stream = execute("s1", "hello");
      const { messages } = await stream.result();
      const events = await readAll(stream);
      assertEventStream(events);
      expectSame([events[0]?.type, events.at(-1)?.type], ["session_start", "execute_complete"], "the ends");
      expectSame(
        ofType(events, "message_end")
          .map(({ message }) => textOf(message))
          .sort(),
        messages.map(textOf).sort(),
        "the messages",
      );
    },
  ),
  executeCase({ id: "one-reader", promise: "a second reader is refused" }, { script: [{ text: "Hi." }] }, async ({ execute }) => {
    const stream = execute("s1", "hello");
    await readAll(stream);
    const refused = await readAll(stream).then(
      () => "was let in",
      (error: { readonly code?: unknown }) => error.code,
    );
    expectSame(refused, "INPUT_INVALID", "the second reader");
  }),
];
