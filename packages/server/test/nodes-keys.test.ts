import { memoryChannel } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { until } from "../../host/test/turn-of-loop.ts";
import { type NodeInTest, type NodesScene, openNodes, pickTool } from "./nodes-scene.ts";

const path = "/api/sessions/s";
const roles = ["all", "all", "server"] as const;

/** The same request to all nodes in turn, at once. */
async function storm(
  nodes: readonly NodeInTest[],
  times: number,
  bodyOf: (place: number) => object,
  to = `${path}/messages`,
): Promise<{ readonly statuses: readonly number[]; readonly bodies: readonly Record<string, unknown>[] }> {
  const answers = await Promise.all(
    Array.from({ length: times }, (_, place) =>
      nodes[place % nodes.length]?.ask({ path: to, method: "POST", headers: { "Idempotency-Key": "k" }, body: bodyOf(place) }),
    ),
  );
  return { statuses: answers.map((answer) => answer?.status ?? 0), bodies: answers.map((answer) => answer?.body ?? {}) };
}

const tally = (statuses: readonly number[]): Readonly<Record<number, number>> =>
  Object.fromEntries([...new Set(statuses)].sort().map((status) => [status, statuses.filter((one) => one === status).length]));

async function askedToPick(calls = 1): Promise<NodesScene> {
  const scene = await openNodes({ roles: ["all", "server", "server"], tools: [pickTool] });
  const [first] = scene.nodes;
  await first?.say("Pick.");
  for (let call = 0; call < calls; call++) first?.model.call("pick", { call });
  first?.model.end();
  await until(async () => (await scene.facts()).at(-1) === "client.requested", "it waits");
  return scene;
}

describe("twenty requests under one key, over three nodes at once", () => {
  it("record a message once, and refuse another one under it", async () => {
    const { nodes, facts } = await openNodes({ roles });
    const { statuses, bodies } = await storm(nodes, 20, () => ({ message: "Hi." }));
    expect(tally(statuses)).toEqual({ 200: 19, 202: 1 });
    expect(new Set(bodies.map(({ runId, seq }) => `${runId} ${seq}`)).size).toBe(1);
    const changed = await storm(nodes, 20, (place) => ({ message: `Hi ${place}.` }));
    expect(tally(changed.statuses)).toEqual({ 422: 20 });
    expect((await facts()).filter((type) => type === "input.accepted")).toHaveLength(1);
  });

  it("with different content record one of them", async () => {
    const { nodes, facts } = await openNodes({ roles });
    const { statuses } = await storm(nodes, 20, (place) => ({ message: `Hi ${place}.` }));
    expect(tally(statuses)).toEqual({ 202: 1, 422: 19 });
    expect((await facts()).filter((type) => type === "input.accepted")).toHaveLength(1);
  });

  it("record the results of a call once, and refuse others under it", async () => {
    const { nodes, facts } = await askedToPick();
    const answer = (content: string): object => ({ results: [{ role: "tool_result", toolCallId: "call_1", content }] });
    const { statuses } = await storm(nodes, 20, () => answer("red"), `${path}/tool-results`);
    expect(tally(statuses)).toEqual({ 200: 19, 202: 1 });
    const changed = await storm(nodes, 20, () => answer("blue"), `${path}/tool-results`);
    expect(tally(changed.statuses)).toEqual({ 422: 20 });
    expect((await facts()).filter((type) => type === "client.answered")).toHaveLength(1);
  });

  it("record the results of a call once, and refuse others under it, also where they come as messages", async () => {
    const { nodes, facts } = await askedToPick();
    const answer = (content: string, toolCallId = "call_1"): object => ({ input: [{ role: "tool_result", toolCallId, content }] });
    const { statuses } = await storm(nodes, 20, () => answer("red"));
    expect(tally(statuses)).toEqual({ 200: 19, 202: 1 });
    for (const other of [answer("blue"), answer("red", "call_2")]) {
      const changed = await storm(nodes, 3, () => other);
      expect(tally(changed.statuses)).toEqual({ 422: 3 });
    }
    const elsewhere = await storm(
      nodes,
      3,
      () => ({ results: [{ role: "tool_result", toolCallId: "call_1", content: "red" }] }),
      `${path}/tool-results`,
    );
    expect(tally(elsewhere.statuses)).toEqual({ 200: 3 });
    expect((await facts()).filter((type) => type === "client.answered")).toHaveLength(1);
  });

  it("refuse the result of another pending call, which stays pending", async () => {
    const { nodes, facts } = await askedToPick(2);
    const answer = (toolCallId: string): object => ({ input: [{ role: "tool_result", toolCallId, content: "red" }] });
    expect((await storm(nodes, 1, () => answer("call_1"))).statuses).toEqual([202]);
    expect((await storm(nodes, 3, () => answer("call_2"))).statuses).toEqual([422, 422, 422]);
    expect((await facts()).filter((type) => type === "client.answered")).toHaveLength(1);
  });

  it("begin one session, with an id of one's own or without, and refuse another one under it", async () => {
    const { nodes, store } = await openNodes({ roles });
    for (const id of [undefined, "mine"]) {
      const body = { ...(id === undefined ? {} : { id }), title: "A trip", context: { messages: [{ role: "user", content: "Hi." }] } };
      const key = { "Idempotency-Key": `begin-${id}` };
      const send = (place: number, more: object = {}) =>
        nodes[place % 3]?.ask({ path: "/api/sessions", method: "POST", headers: key, body: { ...body, ...more } });
      const answers = await Promise.all(Array.from({ length: 20 }, (_, place) => send(place)));
      expect(tally(answers.map((answer) => answer?.status ?? 0))).toEqual({ 200: 19, 201: 1 });
      expect(new Set(answers.map((answer) => answer?.body["sessionId"])).size).toBe(1);
      expect((await send(0, { title: "Another" }))?.status).toBe(422);
    }
    // With the one of the scene.
    expect(await store.index.list("local", { limit: 10 })).toHaveLength(3);
    const taken = await nodes[1]?.ask({
      path: "/api/sessions",
      method: "POST",
      headers: { "Idempotency-Key": "new" },
      body: { id: "mine" },
    });
    expect(taken).toMatchObject({ status: 409, body: { code: "SESSION_EXISTS" } });
  });

  it("keep a file once, and refuse another one under it", async () => {
    const { nodes, store } = await openNodes({ roles });
    const send = async (place: number, text: string): Promise<number> => {
      const headers = { "Content-Type": "text/plain", "Idempotency-Key": "file" };
      const request = new Request("http://localhost/api/files", { method: "POST", headers, body: text });
      return (await nodes[place % 3]?.door.fetch(request))?.status ?? 0;
    };
    expect(tally(await Promise.all(Array.from({ length: 20 }, (_, place) => send(place, "hello"))))).toEqual({ 201: 20 });
    expect(await send(1, "other")).toBe(422);
    expect(await store.blobs.list("local", { prefix: "upload-" })).toHaveLength(1);
  });
});

describe("an abort that is sent again under its key", () => {
  it("aborts the run that was open at first: the next one continues", async () => {
    const { nodes, facts, history } = await openNodes({ roles: ["all", "all"] });
    const [a, b] = nodes;
    const abort = (node: NodeInTest | undefined) =>
      node?.ask({ path: `${path}/abort`, method: "POST", headers: { "Idempotency-Key": "stop" }, body: {} });
    await a?.say("Tell me.");
    await until(() => a?.model.calls === 1, "it runs");
    expect((await abort(a))?.body).toEqual({ aborting: true });
    await until(async () => (await facts()).at(-1) === "run.finished", "the run ends");
    await a?.say("And now?");
    await until(() => a?.model.calls === 2, "the next one runs");
    expect((await abort(b))?.body).toEqual({ aborting: true });
    a?.model.say("Now this.");
    a?.model.end();
    await until(async () => (await facts()).filter((type) => type === "run.finished").length === 2, "it ends");
    expect((await history()).at(-1)).toMatchObject({ type: "run_end", status: "completed" });
  });

  it("answers again that nothing was stopped when the run had ended by itself", async () => {
    const { nodes, facts } = await openNodes({ roles: ["all"] });
    const [a] = nodes;
    await a?.say("Tell me.");
    await until(() => a?.model.calls === 1, "it runs");
    const shown = (await a?.ask({ path }))?.body as { readonly run: { readonly runId: string } } | undefined;
    a?.model.say("This.");
    a?.model.end();
    await until(async () => (await facts()).at(-1) === "run.finished", "the run ends");
    const abort = () =>
      a?.ask({ path: `${path}/abort`, method: "POST", headers: { "Idempotency-Key": "stop" }, body: { runId: shown?.run.runId } });
    for (let time = 0; time < 3; time++) expect((await abort())?.body).toEqual({ aborting: false });
  });

  it("answers again that it stops that run, on a node that did not know it", async () => {
    const channel = { ...memoryChannel(), publish() {} };
    const { nodes, facts } = await openNodes({ roles: ["all", "server"], isSilent: true, channel });
    const [a, b] = nodes;
    const abort = () => b?.ask({ path: `${path}/abort`, method: "POST", headers: { "Idempotency-Key": "stop" }, body: {} });
    expect((await b?.ask({ path }))?.body).toMatchObject({ waiting: [] });
    await a?.say("Tell me.");
    await until(() => a?.model.calls === 1, "it runs");
    expect((await b?.ask({ path }))?.body).not.toHaveProperty("run");
    for (let time = 0; time < 3; time++) expect((await abort())?.body).toEqual({ aborting: true });
    expect((await facts()).filter((type) => type === "abort.requested")).toHaveLength(1);
  });
});

describe("results that come again under their key", () => {
  const first = { results: [{ role: "tool_result", toolCallId: "call_1", content: "red" }] };
  const second = { results: [{ role: "tool_result", toolCallId: "call_1", content: "blue" }] };

  it.each([
    ["/tool-results", "first"],
    ["/messages", "first"],
    ["/tool-results", "second"],
    ["/messages", "second"],
  ])("at %s do nothing when a later call has the vendor's id, and were the %s to claim so", async (route, sender) => {
    const { nodes, store, facts } = await askedToPick();
    const bodyOf = ({ results }: typeof first): object => (route === "/messages" ? { input: results } : { results });
    const send = (place: number, body: object, key: string) =>
      nodes[place]?.ask({ path: `${path}${route}`, method: "POST", headers: { "Idempotency-Key": key }, body });
    const sent = [await send(0, bodyOf(first), "k1"), await send(2, bodyOf(first), "k2")];
    expect(sent.map((answer) => answer?.status)).toEqual([202, 200]);
    const [own] = nodes;
    await until(() => own?.model.calls === 2, "the model goes on");
    own?.model.call("pick", { again: true }, "call_1");
    own?.model.end();
    await until(async () => (await facts()).filter((type) => type === "client.requested").length === 2, "it waits again");
    const isFirst = sender === "first";
    const again = await send(1, bodyOf(first), isFirst ? "k1" : "k2");
    expect([again?.status, again?.body["seq"]]).toEqual([200, sent[isFirst ? 0 : 1]?.body["seq"]]);
    expect((await facts()).filter((type) => type === "client.answered")).toHaveLength(1);
    expect((await send(1, bodyOf(second), "k3"))?.status).toBe(202);
    const answered = (await store.log.read({ scope: "local", session: "s" })).flatMap((fact) =>
      fact.type === "client.answered" ? [[fact.idempotencyKey, JSON.stringify(fact.output)]] : [],
    );
    expect(answered).toEqual([
      ["k1", expect.stringContaining("red")],
      ["k3", expect.stringContaining("blue")],
    ]);
  });
});

describe("a request that was refused", () => {
  it("leaves its key free for the right one", async () => {
    const { nodes } = await askedToPick();
    const headers = { "Idempotency-Key": "k" };
    const results = (toolCallId: string): object => ({ results: [{ role: "tool_result", toolCallId, content: "red" }] });
    const send = (place: number, id: string) =>
      nodes[place]?.ask({ path: `${path}/tool-results`, method: "POST", headers, body: results(id) });
    expect((await send(0, "call_9"))?.status).toBe(404);
    expect((await send(1, "call_1"))?.status).toBe(202);
  });
});

describe("a reader that got a fact from another node", () => {
  it.each(["", "/events", "/runs/:run"])("waits for it at %s, and is never shown less", async (route) => {
    const { nodes, run, store } = await openNodes({ roles: ["all", "server"], isSilent: true });
    const [a, b] = nodes;
    expect((await b?.ask({ path }))?.status).toBe(200);
    const { seq, runId } = (await a?.say("Hi.")) ?? { seq: 0, runId: "" };
    const to = `${path}${route.replace(":run", runId)}?minSeq=${seq}`;
    const asking = b?.ask({ path: to, headers: { Accept: "application/json" } });
    run(10);
    const answer = await asking;
    expect(answer?.status).toBe(200);
    expect(JSON.stringify(answer?.body)).toContain("Hi.");
    const { lastSeq } = await store.log.head({ scope: "local", session: "s" });
    const late = await b?.ask({ path: `${path}${route.replace(":run", runId)}?minSeq=${lastSeq + 1}` });
    expect([late?.status, late?.headers.get("Retry-After"), late?.body["code"]]).toEqual([503, "1", "NODE_BEHIND"]);
  });
});
