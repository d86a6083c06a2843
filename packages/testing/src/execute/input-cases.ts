import { type ExecuteInput, textOf } from "@loopwright/core";
import { assertEventStream } from "../events/event-stream.ts";
import { expectSame, expectThat } from "../kit/kit.ts";
import type { StoreKit } from "../kit/store-case.ts";
import { expectCode } from "../kit/store-expectation.ts";
import { type ExecuteUnderTest, executeCase, ofType, readAll, reading } from "./execute-under-test.ts";

const partial = "This is how far I got";
const hangs = { text: partial, hang: true };

/** What an input may ask for, and how a run is stopped. */
export const executeInputCases: StoreKit<ExecuteUnderTest> = [
  executeCase(
    { id: "abort", promise: "an abort stops the run and keeps the partial text" },
    { script: [hangs] },
    async ({ execute, transcript }) => {
      const stream = execute("s1", "hello");
      const read = reading(stream);
      await read.seen("text_delta");
      await stream.abort("enough");
      const events = await read.all;
      assertEventStream(events);
      const { status, error, text } = await stream.result();
      expectSame([status, error?.code], ["aborted", "RUN_ABORTED"], "the result");
      expectThat(text.length > 0 && partial.startsWith(text), `the kept text is \`${text}\``);
      expectSame(
        ofType(events, "aborting").map(({ reason }) => reason),
        ["enough"],
        "the reason",
      );
      expectSame(textOf((await transcript("s1")).at(-1) ?? { role: "notice", text: "nothing" }), text, "the transcript");
      await stream.abort();
    },
  ),
  executeCase({ id: "signal", promise: "a signal aborts the run" }, { script: [hangs] }, async ({ execute }) => {
    const stop = new AbortController();
    const stream = execute("s1", "hello", { signal: stop.signal });
    await reading(stream).seen("text_delta");
    stop.abort();
    expectSame((await stream.result()).status, "aborted", "the status");
  }),
  executeCase(
    { id: "enqueue", promise: "an input that comes during a run gets a run of its own afterwards" },
    { script: [{ text: "One." }, { text: "Two." }] },
    async ({ execute, transcript }) => {
      const streams = [execute("s1", "first"), execute("s1", "second")];
      const [one, two] = await Promise.all(streams.map((stream) => stream.result()));
      expectSame([one?.text, two?.text], ["One.", "Two."], "the answers");
      expectThat(one?.runId !== two?.runId, "both answers belong to one run");
      expectSame((await transcript("s1")).map(textOf), ["first", "One.", "second", "Two."], "the transcript");
      for (const events of await Promise.all(streams.map(readAll))) assertEventStream(events);
    },
  ),
  executeCase(
    { id: "interrupt", promise: "an input may interrupt the run that is open" },
    { script: [hangs, { text: "At once." }] },
    async ({ execute }) => {
      const first = execute("s1", "first");
      await reading(first).seen("text_delta");
      const second = execute("s1", "second", { mode: "interrupt" });
      expectSame([(await second.result()).text, (await first.result()).status], ["At once.", "aborted"], "the results");
    },
  ),
  executeCase(
    { id: "interrupt-first", promise: "an input that interrupts is answered before those that were waiting" },
    { script: [hangs, { text: "At once." }, { text: "At last." }] },
    async ({ execute, transcript }) => {
      const first = execute("s1", "first");
      await reading(first).seen("text_delta");
      const waiting = execute("s1", "waiting");
      await reading(waiting).seen("input_accepted");
      const urgent = execute("s1", "urgent", { mode: "interrupt" });
      const texts = [(await urgent.result()).text, (await waiting.result()).text];
      expectSame([(await first.result()).status, ...texts], ["aborted", "At once.", "At last."], "the results");
      const written = (await transcript("s1")).filter(({ role }) => role === "user");
      expectSame(written.map(textOf), ["first", "urgent", "waiting"], "the transcript");
    },
  ),
  executeCase(
    { id: "steer", promise: "a steered input joins the run that is open" },
    { script: (gate) => [{ text: "One.", after: gate }, { text: "Both, then." }] },
    async ({ execute, transcript, release }) => {
      const first = execute("s1", "first");
      const read = reading(first);
      await read.seen("turn_start");
      const second = execute("s1", "also this", { mode: "steer" });
      await reading(second).seen("input_accepted");
      release();
      const [one, two] = [await first.result(), await second.result()];
      expectSame([one.text, two.text, two.runId], ["Both, then.", "Both, then.", one.runId], "the answers");
      expectSame((await transcript("s1")).map(textOf), ["first", "One.", "also this", "Both, then."], "the transcript");
      assertEventStream(await read.all);
    },
  ),
  executeCase(
    {
      id: "merge",
      promise: "a merged input shares the run of the input that waits last, and waits by itself where its caller or its options differ",
    },
    { script: (gate) => [{ text: "One.", after: gate }, { text: "Both." }, { text: "With the other model." }] },
    async ({ execute, transcript, release, model }) => {
      const first = execute("s1", "first");
      await reading(first).seen("turn_start");
      const streams = [execute("s1", "second", { mode: "merge" })];
      await reading(streams[0] ?? first).seen("input_accepted");
      for (const [words, options] of [
        ["and this", {}],
        ["not this", { model: "scripted-2" }],
      ] as const) {
        const stream = execute("s1", words, { mode: "merge", ...options });
        await reading(stream).seen("input_accepted");
        streams.push(stream);
      }
      release();
      const [, ...ends] = await Promise.all([first, ...streams].map((stream) => stream.result()));
      const [host, shared, apart] = ends;
      expectSame([shared?.runId, shared?.text, apart?.text], [host?.runId, "Both.", "With the other model."], "the answers");
      expectThat(apart?.runId !== host?.runId, "an input with another model shares the run");
      const texts = ["first", "One.", "second", "and this", "Both.", "not this", "With the other model."];
      expectSame((await transcript("s1")).map(textOf), texts, "the transcript");
      expectSame(model.requests.length, 3, "the number of model calls");
    },
  ),
  executeCase({ id: "reject", promise: "an input may ask to be refused while a run is open" }, { script: [hangs] }, async ({ execute }) => {
    const first = execute("s1", "first");
    await reading(first).seen("text_delta");
    await expectCode("SESSION_BUSY", execute("s1", "second", { mode: "reject" }).result());
    await first.abort();
    await first.result();
  }),
  executeCase(
    { id: "key", promise: "equal keys with equal input are accepted once, and a key is not used for another input" },
    { script: [{ text: "Once." }] },
    async ({ execute, model }) => {
      const first = await execute("s1", "hello", { idempotencyKey: "k1" }).result();
      const again = await execute("s1", "hello", { idempotencyKey: "k1" }).result();
      expectSame([again.status, again.runId, again.text, model.requests.length], ["completed", first.runId, "Once.", 1], "the second time");
      await expectCode("KEY_REUSED", execute("s1", "something else", { idempotencyKey: "k1" }).result());
    },
  ),
  executeCase(
    { id: "branch", promise: "an input may continue another message, or have it answered again" },
    { script: [{ text: "One." }, { text: "Two." }, { text: "Other." }] },
    async ({ execute, transcript }) => {
      const events = await readAll(execute("s1", "hello"));
      const [user] = ofType(events, "message_end");
      await execute("s1", { regenerate: user?.messageId ?? "" }).result();
      expectSame((await transcript("s1")).map(textOf), ["hello", "Two."], "the transcript after answering again");
      await execute("s1", "edited", { parent: null }).result();
      expectSame((await transcript("s1")).map(textOf), ["edited", "Other."], "the transcript after editing");
    },
  ),
  executeCase(
    { id: "model", promise: "an input may choose the model of its run" },
    { script: [{ text: "One." }, { text: "Two." }] },
    async ({ execute, model }) => {
      await execute("s1", "first", { model: "scripted-2" }).result();
      await execute("s1", "second").result();
      expectSame(
        model.requests.map((request) => request.model),
        ["scripted-2", "scripted-1"],
        "the models",
      );
    },
  ),
  executeCase(
    { id: "refused", promise: "what is no input is refused, and the model is not asked" },
    { script: [{ text: "Never." }] },
    async ({ execute, model }) => {
      const refusal = (input: ExecuteInput): Promise<unknown> =>
        Promise.resolve().then((): Promise<unknown> => execute("s1", input).result());
      await expectCode("INPUT_INVALID", refusal(" "));
      await expectCode("INPUT_INVALID", refusal({ regenerate: "99" }));
      expectSame(model.requests.length, 0, "the requests");
    },
  ),
];
