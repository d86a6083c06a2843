import type { ScriptedTurn } from "@loopwright/core/memory";
import type { ModelRequest } from "@loopwright/core/ports";
import type { SessionSnapshot } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { until } from "../../host/test/turn-of-loop.ts";
import { quiet, type Watching } from "./commanded-scene.ts";
import { type MortalServer, openRows, path, type RowScene } from "./rows-scene.ts";

/*
 * Rows 1 to 4, 19 to 22, 27 and 28 of docs/recovery.md as callers meet them: servers behind ports, over one store, of which one dies.
 */
const day = 86_400_000;
const key = { "Idempotency-Key": "k" };
const message = { message: "Hi." };

/** What a repeated request gets. */
const notified = (replayed: boolean): object => (replayed ? { status: 200, body: { replayed: true } } : { status: 202 });

/** The durable events that these streams of one reader brought, one after another. */
async function expectWhole(scene: RowScene, watching: readonly Watching[]): Promise<void> {
  expect(watching.flatMap(({ reader }) => reader.flaws)).toEqual([]);
  expect(watching.flatMap(({ reader }) => reader.durable)).toEqual(await scene.history());
}

describe("the recovery table over HTTP: a message", () => {
  it("row 1: whose server dies before its append gets no answer and leaves nothing; sent again to another it is accepted once", async () => {
    const scene = await openRows();
    const [a, b] = [await scene.start("server"), await scene.start("all")];
    a.dieAt({ fact: "input.accepted", when: "before" });
    expect(await a.post("/messages", message, key)).toBeUndefined();
    expect([a.isDead, await scene.count("input.accepted")]).toEqual([true, 0]);
    expect(await b.post("/messages", message, key)).toMatchObject(notified(false));
    await scene.ends("run.finished");
    expect([await scene.count("input.accepted"), a.modelCalls, b.modelCalls]).toEqual([1, 0, 1]);
  });

  it.each(["server", "all"] as const)(
    "row 2: of which it is unknown whether the log has it is `replayed` when it is sent again, never accepted twice (it died as %s)",
    async (role) => {
      const scene = await openRows();
      const [a, b] = [await scene.start(role), await scene.start("all")];
      a.dieAt({ fact: "input.accepted", when: "after" });
      expect(await a.post("/messages", message, key)).toBeUndefined();
      expect(await b.post("/messages", message, key)).toMatchObject(notified(true));
      scene.run(10);
      await scene.ends("run.finished");
      expect([await scene.count("input.accepted"), await scene.count("run.started"), b.modelCalls]).toEqual([1, 1, 1]);
    },
  );

  it("row 3: that is durable gets its run although its sender got no answer: readers see the run, and the same request again gets its id", async () => {
    const scene = await openRows();
    const [a, b] = [await scene.start("server"), await scene.start("worker")];
    const front = await scene.start("server");
    a.dieAt({ fact: "input.accepted", when: "after" });
    expect(await a.post("/messages", message, key)).toBeUndefined();
    const watching = await front.watch();
    const again = await front.post("/messages", message, key);
    expect(again).toMatchObject(notified(true));
    scene.run(10);
    await watching.got("run_end");
    const runs = watching.reader.durable.filter(({ type }) => type === "run_start").map(({ runId }) => runId);
    expect(runs).toEqual([again?.body["runId"]]);
    expect([a.modelCalls, b.modelCalls]).toEqual([0, 1]);
    await expectWhole(scene, [watching]);
    await watching.connection.cut();
  });

  it("row 4: that was acknowledged without a hint to any worker is found by a sweep within ten seconds", async () => {
    const scene = await openRows();
    const a = await scene.start("server", { notifiesNone: true });
    const [worker, front] = [await scene.start("worker"), await scene.start("server")];
    await quiet(); // The sweep of the start is over.
    const writtenAt = scene.clock.now();
    expect(await a.post("/messages", message, key)).toMatchObject(notified(false));
    a.kill();
    await quiet();
    expect(worker.modelCalls).toBe(0);
    const watching = await front.watch();
    scene.run(10);
    await watching.got("run_end");
    expect(scene.clock.now() - writtenAt).toBeLessThanOrEqual(10_000);
    expect([worker.modelCalls, await scene.count("run.started")]).toEqual([1, 1]);
    await expectWhole(scene, [watching]);
    await watching.connection.cut();
  });
});

/** Asks for these tools, then states what came of it. */
const asking =
  (...tools: readonly string[]) =>
  ({ messages }: ModelRequest): ScriptedTurn =>
    messages.some(({ role }) => role === "tool_result") ? { text: "Done." } : { calls: tools.map((name) => ({ name, id: name })) };

/** The session as this server shows it. */
const shownBy = async (server: MortalServer): Promise<SessionSnapshot> => (await server.ask({ path }))?.body as unknown as SessionSnapshot;

const keysOf = ({ run }: SessionSnapshot): readonly string[] =>
  [...(run?.pendingToolCalls ?? []), ...(run?.pendingApprovals ?? [])].map(({ callKey }) => callKey);

/** A session that waits for an answer to these calls, and its server. */
async function waiting(tools: readonly string[], timeoutMs?: number) {
  const scene = await openRows({ answer: asking(...tools), ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  const a = await scene.start("all");
  const watching = await a.watch();
  await a.post("/messages", message, key);
  await watching.got("rest", 2);
  const [callKey = "", ...more] = keysOf(await shownBy(a));
  return { scene, a, watching, callKey, more };
}

const results = { results: [{ role: "tool_result", toolCallId: "pick", content: "blue" }] };

describe("the recovery table over HTTP: a run that waits", () => {
  it("row 19: is shown by a server that starts days after all others died, and continues with an answer and a decision", async () => {
    const { scene, a, watching, callKey, more } = await waiting(["pick", "danger"]);
    a.kill();
    await watching.ended();
    scene.clock.advance(30 * day);
    const b = await scene.start("all");
    await quiet();
    const shown = await shownBy(b);
    expect([shown.status, keysOf(shown), more.length]).toEqual(["waiting", [callKey, ...more], 1]);
    expect([await scene.count("owner.claimed"), b.modelCalls, scene.starts]).toEqual([1, 0, []]);
    const again = await b.watch(`?after=${watching.reader.cursor}`);
    await again.got("rest");
    expect(await b.post(`/approvals/${more[0]}`, { decision: "allow" })).toMatchObject(notified(false));
    expect(await b.post("/tool-results", results)).toMatchObject(notified(false));
    await again.got("run_end");
    expect([b.modelCalls, scene.starts.length]).toEqual([1, 1]);
    await expectWhole(scene, [watching, again]);
    await again.connection.cut();
  });

  it.each(["pick", "danger"])(
    "row 19: for %s until a deadline that passes while all are down is ended by the sweep of the next one that starts",
    async (tool) => {
      const { scene, a, watching } = await waiting([tool], 3_600_000);
      a.kill();
      await watching.ended();
      scene.clock.advance(7 * day);
      const worker = await scene.start("worker");
      scene.run(10);
      await scene.ends("run.finished");
      const notified = (await scene.history()).flatMap((event) => (event.type === "message_end" ? [event.message] : []));
      expect(notified.filter(({ role }) => role === "tool_result")).toMatchObject([{ outcome: "expired" }]);
      expect([worker.modelCalls, scene.starts]).toEqual([1, []]);
    },
  );

  it.each([
    ["has", "after", true],
    ["has not", "before", false],
  ] as const)("row 20: for a result that the log %s, of which its sender does not know, takes it once", async (_, when, replayed) => {
    const { scene, a, watching } = await waiting(["pick"]);
    a.dieAt({ fact: "client.answered", when });
    expect(await a.post("/tool-results", results, key)).toBeUndefined();
    await watching.ended();
    const b = await scene.start("all");
    expect(await b.post("/tool-results", results, key)).toMatchObject(notified(replayed));
    scene.run(10);
    await scene.ends("run.finished");
    expect([await scene.count("client.answered"), b.modelCalls]).toEqual([1, 1]);
    const other = { results: [{ ...results.results[0], content: "red" }] };
    expect(await b.post("/tool-results", other)).toMatchObject({ status: 409, body: { code: "CALL_ANSWERED" } });
  });

  it("row 21: for leave that was given to a server which dies before it starts the tool runs it once, at another", async () => {
    const { scene, a, watching, callKey } = await waiting(["danger"]);
    a.kill();
    await watching.ended();
    // One that runs the session itself would have its start in the same append: row 12.
    const front = await scene.start("server");
    front.dieAt({ fact: "approval.decided", when: "after" });
    expect(await front.post(`/approvals/${callKey}`, { decision: "allow" }, key)).toBeUndefined();
    expect([await scene.count("approval.decided"), await scene.count("tool.started")]).toEqual([1, 0]);
    const b = await scene.start("all");
    const again = await b.watch(`?after=${watching.reader.cursor}`);
    scene.run(10);
    await again.got("run_end");
    expect(await b.post(`/approvals/${callKey}`, { decision: "allow" }, key)).toMatchObject(notified(true));
    expect([scene.starts, await scene.count("tool.started"), await scene.count("approval.decided")]).toEqual([[callKey], 1, 1]);
    await expectWhole(scene, [watching, again]);
    await again.connection.cut();
  });

  it("row 22: for an approval that two people decide on two servers has one decision; the other one gets 409 with it", async () => {
    const { scene, a, watching, callKey } = await waiting(["danger"]);
    const b = await scene.start("server");
    const as = (user: string): { readonly Authorization: string } => ({ Authorization: `Bearer ${user}@local` });
    const answers = await Promise.all([
      a.post(`/approvals/${callKey}`, { decision: "allow" }, as("ada")),
      b.post(`/approvals/${callKey}`, { decision: "deny", note: "No." }, as("bob")),
    ]);
    await watching.got("run_end");
    const decided = (await scene.history()).filter((event) => event.type === "approval_decided");
    const [first] = decided;
    const isAllowed = first?.type === "approval_decided" && first.decision === "allow";
    const details = isAllowed ? { decision: "allow", by: "ada" } : { decision: "deny", by: "bob" };
    expect(decided).toMatchObject([details]);
    expect(answers.map((answer) => answer?.status)).toEqual(isAllowed ? [202, 409] : [409, 202]);
    expect(answers[isAllowed ? 1 : 0]?.body).toMatchObject({ code: "APPROVAL_DECIDED", details });
    expect(scene.starts).toEqual(isAllowed ? [callKey] : []);
    await watching.connection.cut();
  });
});

describe("the recovery table over HTTP: a reader", () => {
  it("row 27: whose server died before it sent the end of a run gets that end from another one, by the log", async () => {
    const scene = await openRows();
    const [a, b] = [await scene.start("all"), await scene.start("server")];
    const first = await a.watch();
    a.dieAt({ fact: "run.finished", when: "after" });
    await a.post("/messages", message, key);
    await first.ended();
    expect([await scene.count("run.finished"), first.reader.durable.some(({ type }) => type === "run_end")]).toEqual([1, false]);
    const second = await b.watch(`?after=${first.reader.cursor}`);
    await second.got("run_end");
    await expectWhole(scene, [first, second]);
    expect([a.modelCalls, b.modelCalls]).toEqual([1, 0]);
    await second.connection.cut();
  });

  it("row 28: of hundreds whose server dies in mid-answer sees every event once and in order at another one, and no word of the old answer", async () => {
    const scene = await openRows({
      answer: (_, { server }) => (server === 1 ? { text: "Once upon", hang: true } : { text: "Hello there." }),
    });
    const [a, b] = [await scene.start("all"), await scene.start("all")];
    const before = await Promise.all(Array.from({ length: 200 }, () => a.watch()));
    await a.post("/messages", message, key);
    await until(() => before.every(({ reader }) => reader.counts.ephemeral >= 3), "all have heard of it");
    a.kill();
    await until(() => before.every(({ isOver }) => isOver), "all are cut off");
    const after = await Promise.all(before.map(({ reader }) => b.watch(`?after=${reader.cursor}`)));
    scene.run(50);
    await until(() => after.every(({ reader }) => reader.durable.at(-1)?.type === "run_end"), "all have heard the end");
    const history = await scene.history();
    for (const [place, { reader, frames }] of after.entries()) {
      const first = before[place]?.reader;
      expect([...(first?.flaws ?? ["none"]), ...reader.flaws]).toEqual([]);
      expect([...(first?.durable ?? []), ...reader.durable]).toEqual(history);
      const discarded = reader.events.findIndex(({ type }) => type === "attempt_discarded");
      expect(reader.events.slice(0, discarded).some(({ type }) => type === "text_delta")).toBe(false);
      expect(reader.counts.wholeTexts).toBe(1);
      expect(frames.length).toBeGreaterThan(0);
    }
    expect([a.modelCalls, b.modelCalls]).toEqual([1, 1]);
    await Promise.all(after.map(({ connection }) => connection.cut()));
    await until(() => after.every(({ isOver }) => isOver), "all have left");
  });
});
