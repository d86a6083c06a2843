import { describe, expect, it, onTestFinished } from "vitest";
import { defineTool, execute, type Hooks, type SessionEvent, textOf } from "../src/index.ts";
import type { ScriptedTurn } from "../src/memory/index.ts";
import type { AppendOutcome, ModelRequest } from "../src/ports/index.ts";
import { type Client, type Processes, processes, untilDead } from "./dying-processes.ts";
import { calm } from "./harness.ts";

/*
 * Rows 1 to 11 of docs/recovery.md: a process dies between a request and the end of its model call. The model counts what it is asked.
 */
const never = new Promise<never>(() => {});
const key = { idempotencyKey: "k" };
const hello: readonly ScriptedTurn[] = [{ text: "Hello." }, { text: "A second call." }];

/** The client received every durable event of the log once and in order. */
async function expectWholeHistory(made: Processes, { events }: Client): Promise<void> {
  expect(events.filter((event) => "k" in event)).toEqual(await made.history());
}

/** A session with an input that no process runs. */
async function withInput(script: Parameters<typeof processes>[0], options: Parameters<typeof processes>[1] = {}): Promise<Processes> {
  const made = processes(script, options);
  await made.again({ drives: false }).submit("go", key);
  return made;
}

/** Hooks that think have been left to it: what does not need them is in the log. */
async function hooksAreLeft({ clock }: Processes): Promise<void> {
  await calm();
  clock.advance(1_000);
  await calm();
}

describe("the recovery table: an input", () => {
  it("row 1: a request that died before its append left nothing, and is accepted once when it is sent again under its key", async () => {
    const made = processes(hello);
    const dying = made.boot({ at: 1, when: "before" }, { drives: false });
    dying.session.submit("go", key).catch(() => {});
    await untilDead(dying);
    expect(await made.facts()).toEqual([]);
    const { session } = made.boot();
    expect(await session.submit("go", key)).not.toHaveProperty("replayed", true);
    expect((await made.finish(session)).status).toBe("completed");
    expect([await made.count("input.accepted"), made.provider.requests.length]).toEqual([1, 1]);
  });

  it.each([
    ["has", "after", true],
    ["has not", "before", false],
  ] as const)(
    "row 2: an input of which it is unknown whether the log has it (it %s) is accepted once, and the same key returns it",
    async (_, when, replayed) => {
      const made = processes(hello);
      const dying = made.boot({ at: 1, when }, { drives: false });
      dying.session.submit("go", key).catch(() => {});
      await untilDead(dying);
      const { session } = made.boot();
      const published = await session.submit("go", key);
      expect(published.replayed === true).toBe(replayed);
      await made.finish(session);
      const [input, ...more] = await made.factsOf("input.accepted");
      expect([input?.runId, more]).toEqual([published.runId, []]);
      expect(made.provider.requests).toHaveLength(1);
    },
  );

  it("row 3: a durable input whose sender got no answer gets its run from the next owner, and the sender the same run", async () => {
    const made = processes(hello);
    const dying = made.boot({ at: 1, when: "after" }, { drives: false });
    dying.session.submit("go", key).catch(() => {});
    await untilDead(dying);
    const { session } = made.boot();
    const client = made.client();
    await client.connect(session);
    const published = await session.submit("go", key);
    await made.finish(session);
    expect(published.replayed).toBe(true);
    expect((await made.factsOf("run.started")).map(({ runId }) => runId)).toEqual([published.runId]);
    expect(client.typesOf(/^(input_accepted|run_start|run_end)$/)).toEqual(["input_accepted", "run_start", "run_end"]);
    await expectWholeHistory(made, client);
  });

  it("row 4: a durable input without a hint is in the list of sessions that need an owner, at once", async () => {
    const made = await withInput(hello);
    const now = made.clock.now();
    expect(await made.store.log.due({ now })).toEqual([{ ref: { scope: "local", session: "s1" }, due: 0 }]);
    expect((await made.finish(made.boot().session)).text).toBe("Hello.");
    expect(await made.store.log.due({ now })).toEqual([]);
  });
});

describe("the recovery table: a run", () => {
  it("row 5: an owner that died after its claim is followed by the next one after its lease, and the run starts once", async () => {
    const made = await withInput(hello);
    const dying = made.bootUntilClaim();
    execute(dying.session, "go", key);
    await untilDead(dying);
    expect(await made.store.log.head({ scope: "local", session: "s1" })).toMatchObject({ epoch: 1, lease: { node: expect.any(String) } });
    expect(await made.store.log.due({ now: made.clock.now() })).toEqual([]);
    made.outlive();
    expect(await made.store.log.due({ now: made.clock.now() })).toHaveLength(1);
    const { session } = made.boot();
    const client = made.client();
    await client.connect(session);
    await made.finish(session);
    expect([await made.count("run.started"), await made.count("model.failed"), made.provider.requests.length]).toEqual([1, 0, 1]);
    expect((await made.factsOf("owner.claimed")).map(({ epoch }) => epoch)).toEqual([2]);
    expect(client.typesOf(/^(run_start|attempt_discarded|run_end)$/)).toEqual(["run_start", "run_end"]);
  });

  it("row 6: a run whose owner died before its model call has begun shows as running, and gets its first attempt from the next owner", async () => {
    let hooks = 0;
    const hook: Hooks = { name: "prepare", prepare: () => (++hooks === 1 ? never : undefined) };
    const made = await withInput(hello, { hooks: [hook] });
    const dying = made.boot();
    execute(dying.session, "go", key);
    await hooksAreLeft(made);
    dying.store.kill();
    expect(await made.types()).toContain("run.started");
    expect([await made.count("model.started"), made.provider.requests.length]).toEqual([0, 0]);
    expect((await made.boot(undefined, { drives: false }).session.ready()).status).toBe("running");
    made.outlive();
    const { session } = made.boot();
    expect((await made.finish(session)).text).toBe("Hello.");
    expect(await made.factsOf("model.started")).toMatchObject([{ turn: 1, attempt: 1 }]);
    expect([await made.count("run.started"), await made.count("model.failed"), made.provider.requests.length]).toEqual([1, 0, 1]);
  });

  it.each([
    ["was never sent", 0],
    ["was sent, and nothing of it came", 1],
  ])("row 7: a model call that %s is closed as crashed and made again as attempt 2", async (_, sent) => {
    const made = await withInput((_request, call) => (sent === 1 && call === 1 ? { hang: true } : { text: "Hello." }));
    const dying = made.boot(sent === 0 ? { at: 1, when: "after" } : undefined);
    const client = made.client();
    await client.connect(dying.session);
    await calm();
    dying.store.kill();
    expect([await made.count("model.started"), made.provider.requests.length]).toEqual([1, sent]);
    made.outlive();
    const { session } = made.boot();
    await client.connect(session);
    expect((await made.finish(session)).text).toBe("Hello.");
    expect(await made.factsOf("model.failed")).toMatchObject([{ attempt: 1, failure: { code: "CRASHED" } }]);
    expect((await made.factsOf("model.started")).map(({ turn, attempt }) => [turn, attempt])).toEqual([
      [1, 1],
      [1, 2],
    ]);
    expect(made.provider.requests).toHaveLength(sent + 1);
    expect(client.typesOf(/^(attempt_discarded|run_end)$/)).toEqual(["attempt_discarded", "run_end"]);
    await expectWholeHistory(made, client);
  });
});

/** What a client receives when an answer is lost with its process: what it showed is withdrawn, then all is published anew. */
function expectPublishedAnew({ events }: Client, written: string, then: string): void {
  const discarded = events.findIndex(({ type }) => type === "attempt_discarded");
  expect(events[discarded]).toMatchObject({ code: "CRASHED", willRetry: true });
  const textIn = (part: typeof events): string => part.flatMap((event) => (event.type === "text_delta" ? [event.delta] : [])).join("");
  expect([textIn(events.slice(0, discarded)), textIn(events.slice(discarded))]).toEqual([written, then]);
  const old = events.slice(0, discarded).find((event) => event.type === "text_delta");
  const lanes = events.slice(discarded).flatMap((event) => ("lane" in event ? [event.lane] : []));
  expect(lanes).not.toContain(old && "lane" in old ? old.lane : undefined);
}

describe("the recovery table: an answer", () => {
  it("row 8: an answer cut off in mid-stream is discarded for its reader, and streamed again from its start", async () => {
    const made = await withInput((_request, call) => (call === 1 ? { text: "Once upon", hang: true } : { text: "Hello." }));
    const dying = made.boot();
    const client = made.client();
    await client.connect(dying.session);
    await calm();
    dying.store.kill();
    made.outlive();
    const { session } = made.boot();
    await client.connect(session);
    expect((await made.finish(session)).text).toBe("Hello.");
    expectPublishedAnew(client, "Once upon", "Hello.");
    expect(await made.factsOf("model.failed")).toMatchObject([{ attempt: 1, failure: { code: "CRASHED" } }]);
    expect((await made.factsOf("model.finished")).map(({ message }) => textOf(message))).toEqual(["Hello."]);
    expect(made.provider.requests).toHaveLength(2);
    await expectWholeHistory(made, client);
  });

  it("row 9: an answer that had ended and was not committed is lost as one in mid-stream is", async () => {
    const made = await withInput((_request, call) => ({ text: call === 1 ? "Once upon a time." : "Hello." }));
    const dying = made.boot({ at: 2, when: "before" });
    const client = made.client();
    await client.connect(dying.session);
    await untilDead(dying);
    expect(dying.store.batches.at(-1)?.facts.map(({ type }) => type)).toContain("model.finished");
    made.outlive();
    const { session } = made.boot();
    await client.connect(session);
    expect((await made.finish(session)).text).toBe("Hello.");
    expectPublishedAnew(client, "Once upon a time.", "Hello.");
    expect([await made.count("model.failed"), await made.count("model.finished"), made.provider.requests.length]).toEqual([1, 1, 2]);
    await expectWholeHistory(made, client);
  });

  it("row 10: a committed answer whose writer died before it knew is read by the next owner, and never asked for again", async () => {
    const look = defineTool({
      name: "look",
      description: "Looks.",
      parameters: { type: "object" },
      replay: "pure",
      execute: () => "a cat",
    });
    const answer = ({ messages }: ModelRequest): ScriptedTurn =>
      messages.some(({ role }) => role === "tool_result") ? { text: "Done." } : { text: "Let me see.", calls: [{ name: "look" }] };
    const made = await withInput(answer as never, { tools: [look] });
    const dying = made.boot({ at: 2, when: "after" });
    const received: string[] = [];
    const nameOf = (event: SessionEvent): string => ("message" in event ? `${event.type} ${event.message?.role}` : event.type);
    onTestFinished(dying.session.follow({ events: (events) => void received.push(...events.map(nameOf)) }));
    await untilDead(dying);
    expect(received).toEqual(expect.arrayContaining(["message_end user", "text_delta"]));
    expect(received).not.toContain("message_end assistant"); // Nothing is published before it is known.
    made.outlive();
    const { session } = made.boot();
    const client = made.client();
    await client.connect(session);
    expect((await made.finish(session)).text).toBe("Done.");
    expect((await made.factsOf("model.finished")).map(({ turn, message }) => [turn, textOf(message)])).toEqual([
      [1, "Let me see."],
      [2, "Done."],
    ]);
    expect([await made.count("model.failed"), made.provider.requests.length]).toEqual([0, 2]);
    await expectWholeHistory(made, client);
  });

  it("row 10: a live writer without an answer asks under the same batch id, and continues without a second model call", async () => {
    const made = processes(hello);
    const { log } = made.store;
    const batches: string[] = [];
    const append: typeof log.append = async (session, request) => {
      const outcome = await log.append(session, request);
      if (!request.facts.some(({ type }) => type === "model.finished")) return outcome;
      batches.push(`${request.batchId} ${outcome.type}`);
      return batches.length === 1 ? ({ type: "unknown" } satisfies AppendOutcome) : outcome;
    };
    const session = made.again({ store: { ...made.store, log: { ...log, append } } });
    await session.submit("go");
    expect((await made.finish(session)).status).toBe("completed");
    expect(batches.map((batch) => batch.split(" ")[1])).toEqual(["ok", "dup"]);
    expect(new Set(batches.map((batch) => batch.split(" ")[0])).size).toBe(1);
    expect([await made.count("model.finished"), made.provider.requests.length]).toEqual([1, 1]);
  });

  it("row 11: calls that were committed and not begun are begun by the next owner, once", async () => {
    const starts: string[] = [];
    let gated = 0;
    const hooks: Hooks = { name: "gate", gate: () => (++gated === 1 ? never : undefined) };
    const act = defineTool({
      name: "act",
      description: "Acts.",
      parameters: { type: "object" },
      execute(_, { callKey, attempt }) {
        starts.push(`${callKey} ${attempt}`);
        return "done";
      },
    });
    const answer = ({ messages }: ModelRequest): ScriptedTurn =>
      messages.some(({ role }) => role === "tool_result") ? { text: "Done." } : { calls: [{ name: "act" }] };
    const made = await withInput(answer as never, { tools: [act], hooks: [hooks] });
    const dying = made.boot();
    const client = made.client();
    await client.connect(dying.session);
    await hooksAreLeft(made);
    dying.store.kill();
    expect([await made.count("model.finished"), await made.count("tool.started"), starts]).toEqual([1, 0, []]);
    made.outlive();
    const { session } = made.boot();
    await client.connect(session);
    expect((await made.finish(session)).text).toBe("Done.");
    const [started, ...more] = await made.factsOf("tool.started");
    expect([starts, more]).toEqual([[`${started?.callKey} 1`], []]);
    expect(await made.factsOf("tool.finished")).toMatchObject([{ outcome: "ok" }]);
    expect(made.provider.requests).toHaveLength(2);
    await expectWholeHistory(made, client);
  });
});
