import { createApprovals } from "@loopwright/approvals";
import { type Agent, createAgent, defineTool, type JsonObject } from "@loopwright/core";
import { manualClock, memoryStore, scripted } from "@loopwright/core/memory";
import type { ApprovalPage, InboxApproval, SessionSnapshot } from "@loopwright/core/protocol";
import { describe, expect, it } from "vitest";
import { until } from "../../host/test/turn-of-loop.ts";
import { accessPolicy } from "../src/index.ts";
import { approvalPage } from "../src/schemas/index.ts";
import type { ServeOptions } from "./serve.ts";
import { type TestServer, testServer } from "./test-server.ts";

type Bearer = { readonly Authorization: string };
const bearer = (user: string, scope = "garden"): Bearer => ({ Authorization: `Bearer ${user}@${scope}` });
const authenticate: NonNullable<ServeOptions["authenticate"]> = (request) => {
  const [, user, scope] = /^Bearer (\w+)@(\w+)$/.exec(request.headers.get("Authorization") ?? "") ?? [];
  return user === undefined || scope === undefined ? undefined : { user, scope, ...(user === "service" ? { trusted: true } : {}) };
};

interface Inbox extends TestServer {
  readonly ran: JsonObject[];
  /** A session whose run calls tools with these arguments: `remove`, and `wait` or `hand` where these are named. Resolves when an approval waits. */
  begin(id: string, args: JsonObject, headers?: Bearer): Promise<void>;
  inbox(query?: string, headers?: Bearer): Promise<ApprovalPage>;
  decide(approval: InboxApproval | undefined, json: object, headers?: Bearer): ReturnType<TestServer["ask"]>;
  snapshot(id: string): Promise<SessionSnapshot>;
}

const { hooks, memory } = createApprovals();

function carefulAgent(ran: JsonObject[]): Agent {
  const parameters = { type: "object" } as const;
  const remove = defineTool({
    name: "remove",
    description: "Removes a file.",
    parameters,
    approval: (args) => ({
      action: "ask",
      reason: "Gone for good.",
      ...((args as JsonObject)["hasty"] === true ? { timeoutMs: 60_000 } : {}),
    }),
    execute(args) {
      ran.push(args as JsonObject);
      return "removed";
    },
  });
  const wait = defineTool({ name: "wait", description: "Waits.", parameters, execute: () => new Promise(() => {}) });
  const provider = scripted(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role !== "user") return { text: "Done." };
    const text = typeof last.content === "string" ? last.content : last.content.map((part) => ("text" in part ? part.text : "")).join("");
    const { below, waits, ...args } = JSON.parse(text) as JsonObject;
    if (below === true) return { calls: [{ name: "hand", args }] };
    return { calls: [{ name: "remove", args }, ...(waits === true ? [{ name: "wait", args: {} }] : [])] };
  });
  const worker = createAgent({ name: "worker", provider, tools: [remove], hooks: [hooks] });
  const hand = defineTool({
    name: "hand",
    description: "Hands over.",
    parameters,
    execute: async (args, context) => (await context.child("w", worker, JSON.stringify(args))).text,
  });
  return createAgent({ name: "helper", provider, tools: [remove, wait, hand], hooks: [hooks] });
}

function scene(options: Partial<ServeOptions> = {}): Inbox {
  const ran: JsonObject[] = [];
  const server = testServer({ agents: [carefulAgent(ran)], authenticate, approvals: memory, ...options });
  const inbox: Inbox["inbox"] = async (query = "", headers = bearer("anne")) =>
    approvalPage.parse((await server.ask(`/api/approvals${query}`, { headers })).body);
  const snapshot: Inbox["snapshot"] = async (id) =>
    (await server.ask<SessionSnapshot>(`/api/sessions/${id}`, { headers: bearer("anne") })).body;
  return {
    ...server,
    ...{ ran, inbox, snapshot },
    async begin(id, args, headers = bearer("anne")) {
      await server.ask("/api/sessions", { json: { id }, headers });
      await server.ask(`/api/sessions/${id}/messages`, { json: { input: JSON.stringify(args) }, headers });
      await until(async () => {
        const { body } = await server.ask<SessionSnapshot>(`/api/sessions/${id}`, { headers });
        return (body.run?.pendingApprovals ?? []).length > 0 || body.status === "idle";
      }, "an approval waits");
    },
    decide: (approval, json, headers = bearer("anne")) =>
      server.ask(`/api/sessions/${approval?.sessionId}/approvals/${approval?.callKey}`, { json, headers }),
  };
}

const rested = (made: Inbox, id: string): Promise<void> => until(async () => (await made.snapshot(id)).status === "idle", `${id} rests`);
const allowed = ({ argsDigest = "" }: Partial<InboxApproval> = {}, more: object = {}): object => ({
  decision: "allow",
  argsDigest,
  ...more,
});

describe("the inbox of approvals", () => {
  it("has what waits in all sessions of the scope, with all that a decision needs, newest first, and nothing of another scope", async () => {
    const made = scene();
    await made.begin("one", { path: "a" });
    await made.begin("two", { path: "b" });
    await made.begin("other", { path: "c" }, bearer("carl", "kitchen"));
    const { approvals, next } = await made.inbox();
    expect(approvals.map(({ sessionId, args }) => [sessionId, args])).toEqual([
      ["two", { path: "b" }],
      ["one", { path: "a" }],
    ]);
    expect(approvals[0]).toMatchObject({
      toolName: "remove",
      reason: "Gone for good.",
      argsBytes: 12,
      argsDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(next).toBeUndefined();
    expect((await made.decide(approvals[0], allowed(approvals[0]))).status).toBe(202);
    await rested(made, "two");
    expect((await made.inbox()).approvals.map(({ sessionId }) => sessionId)).toEqual(["one"]);
  });

  it("has approvals of calls while another call of the turn is still running", async () => {
    const made = scene();
    await made.begin("busy", { path: "a", waits: true });
    const { status } = await made.snapshot("busy");
    expect([status, (await made.inbox()).approvals.map(({ sessionId }) => sessionId)]).toEqual(["running", ["busy"]]);
  });

  it("has approvals of child agents at the session at the top, with their agent", async () => {
    const made = scene();
    await made.begin("top", { path: "a", below: true });
    const [approval] = (await made.inbox()).approvals;
    expect(approval).toMatchObject({ sessionId: "top", agent: "worker", session: expect.not.stringMatching(/^top$/), args: { path: "a" } });
    expect((await made.decide(approval, allowed(approval, { remember: { for: "session" } }))).status).toBe(202);
    await rested(made, "top");
    expect([made.ran, (await made.inbox()).approvals]).toEqual([[{ path: "a" }], []]);
    await made.begin("top", { path: "a", below: true });
    await rested(made, "top");
    expect(made.ran).toHaveLength(2);
  });

  it("shows callers what they may decide on, and nothing else", async () => {
    const made = scene({ authorize: ({ user }, action, session) => action !== "session.decide" || user === "anne" || session === "his" });
    await made.begin("hers", { path: "a" });
    await made.begin("his", { path: "b" });
    const idsOf = async (user: string) => (await made.inbox("", bearer(user))).approvals.map(({ sessionId }) => sessionId);
    expect([await idsOf("anne"), await idsOf("ben")]).toEqual([["his", "hers"], ["his"]]);
  });

  it("leaves out sessions that `maySee` hides from the caller, and those that the ready policy does not show", async () => {
    const made = scene({ maySee: ({ user }, { id }) => user === "anne" || id === "his" });
    const store = memoryStore();
    const ready = scene({ store, ...accessPolicy({ store }) });
    const idsOf = async (one: Inbox, user: string) => (await one.inbox("", bearer(user))).approvals.map(({ sessionId }) => sessionId);
    for (const one of [made, ready]) {
      await one.begin("hers", { path: "a" });
      await one.begin("his", { path: "b" }, bearer("ben"));
    }
    expect([await idsOf(made, "anne"), await idsOf(made, "ben")]).toEqual([["his", "hers"], ["his"]]);
    expect([await idsOf(ready, "anne"), await idsOf(ready, "ben")]).toEqual([["hers"], ["his"]]);
  });

  it("is read in pages that have each session once", async () => {
    const made = scene();
    for (let at = 0; at < 5; at++) await made.begin(`s${at}`, { path: `p${at}` });
    const seen: string[] = [];
    let page = await made.inbox("?limit=2");
    for (seen.push(...page.approvals.map(({ sessionId }) => sessionId)); page.next !== undefined; ) {
      page = await made.inbox(`?limit=2&before=${page.next}`);
      seen.push(...page.approvals.map(({ sessionId }) => sessionId));
    }
    expect(seen).toEqual(["s4", "s3", "s2", "s1", "s0"]);
    expect(await made.refused("/api/approvals?before=x", { headers: bearer("anne") })).toMatchObject({
      status: 400,
      code: "CURSOR_INVALID",
    });
  });

  it("looks up at most 1,000 sessions for one page and gives the place of the next, however many wait for nothing", async () => {
    const store = memoryStore();
    let listed = 0;
    const index = {
      get: store.index.get.bind(store.index),
      search: store.index.search.bind(store.index),
      rebuild: store.index.rebuild.bind(store.index),
      async list(
        _scope: string,
        { limit = 100, before }: { readonly limit?: number; readonly before?: { readonly updatedAt: number } } = {},
      ) {
        listed += limit;
        const from = before?.updatedAt ?? 5_000;
        return Array.from({ length: limit }, (_, at) => ({
          ...{
            id: `s${from - at - 1}`,
            agent: "helper",
            status: "idle" as const,
            createdAt: 1,
            updatedAt: from - at - 1,
            lastSeq: 1,
            messageCount: 0,
          },
        }));
      },
    };
    const made = scene({ store: { ...store, log: store.log, blobs: store.blobs, snapshots: store.snapshots, index } });
    expect([await made.inbox(), listed]).toEqual([{ approvals: [], next: "4000.s4000" }, 1_000]);
  });

  it("M07: leaves out arguments of more than 8 KiB, which the session has in full, and decisions whose time is over", async () => {
    const clock = manualClock();
    const made = scene({ clock });
    await made.begin("large", { path: "x".repeat(9_000) });
    await made.begin("late", { path: "y", hasty: true });
    const late = (await made.inbox()).approvals;
    expect(late.map(({ sessionId, args, argsBytes }) => [sessionId, args, argsBytes])).toEqual([
      ["late", { path: "y", hasty: true }, expect.any(Number)],
      ["large", undefined, 9_011],
    ]);
    expect((await made.snapshot("large")).run?.pendingApprovals?.[0]?.args).toEqual({ path: "x".repeat(9_000) });
    await clock.advance(60_001);
    expect((await made.inbox()).approvals.map(({ sessionId }) => sessionId)).toEqual(["large"]);
    expect((await made.decide(late[0], allowed(late[0]))).body).toMatchObject({ code: "APPROVAL_DECIDED" });
  });

  it("is the same on another node, and after all nodes have ended", async () => {
    const store = memoryStore();
    const [one, two] = [scene({ store }), scene({ store })];
    await one.begin("a", { path: "a" });
    expect(await two.inbox()).toEqual(await one.inbox());
    await one.server.close();
    await two.server.close();
    const three = scene({ store });
    const [approval] = (await three.inbox()).approvals;
    expect((await three.decide(approval, allowed(approval))).status).toBe(202);
    await rested(three, "a");
    expect([three.ran, (await three.inbox()).approvals]).toEqual([[{ path: "a" }], []]);
  });
});

describe("a decision that is to be remembered", () => {
  const inFolder = { for: "session", pattern: { args: { path: { below: "src/" } } } };

  it("holds for the calls of the session that fit its pattern, is listed with it and can be forgotten", async () => {
    const made = scene();
    await made.begin("a", { path: "src/1" });
    const [approval] = (await made.inbox()).approvals;
    expect((await made.decide(approval, allowed(approval, { remember: inFolder }))).status).toBe(202);
    await rested(made, "a");
    await made.begin("a", { path: "src/2" });
    expect(made.ran).toEqual([{ path: "src/1" }, { path: "src/2" }]);
    const { remembered } = await made.snapshot("a");
    expect(remembered).toMatchObject([{ by: "anne", toolName: "remove", decision: "allow", pattern: inFolder.pattern }]);
    const forget = [remembered?.[0]?.callKey];
    expect((await made.ask("/api/sessions/a", { method: "PATCH", json: { forget }, headers: bearer("anne") })).status).toBe(200);
    await made.begin("a", { path: "src/3" });
    expect((await made.inbox()).approvals).toHaveLength(1);
  });

  it("holds always for the user of the decision, in new sessions, and no longer once the rule is removed", async () => {
    const made = scene();
    await made.begin("a", { path: "b" });
    const [approval] = (await made.inbox()).approvals;
    expect((await made.decide(approval, allowed(approval, { remember: { for: "always" } }))).status).toBe(202);
    await made.begin("b", { path: "b" });
    await rested(made, "b");
    await made.begin("c", { path: "b" }, bearer("ben"));
    expect((await made.inbox()).approvals.map(({ sessionId }) => sessionId)).toEqual(["c"]);
    const headers = bearer("anne");
    const { body } = await made.ask("/api/approval-rules", { headers });
    expect(body).toMatchObject({
      remembers: true,
      rules: [{ toolName: "remove", decision: "allow", pattern: { args: { path: { equals: "b" } } }, sessionId: "a" }],
    });
    const [{ id }] = (body as { rules: [{ id: string }] }).rules;
    expect((await made.ask(`/api/approval-rules/${id}`, { method: "DELETE", headers: bearer("ben") })).body).toEqual({ removed: false });
    expect((await made.ask(`/api/approval-rules/${id}`, { method: "DELETE", headers })).body).toEqual({ removed: true });
    await made.begin("d", { path: "b" });
    expect((await made.inbox()).approvals.map(({ sessionId }) => sessionId)).toEqual(["d", "c"]);
  });

  it.each<[string, (digest: string) => object, string]>([
    ["without the digest of what was seen", () => ({ decision: "allow", remember: inFolder }), "INPUT_INVALID"],
    [
      "with a pattern that does not cover the call",
      (argsDigest) => ({ decision: "allow", argsDigest, remember: { for: "session", pattern: { args: { path: { below: "etc/" } } } } }),
      "INPUT_INVALID",
    ],
    [
      "with a pattern that covers the call but not the edited arguments",
      (argsDigest) => ({ decision: "allow", argsDigest, args: { path: "etc/1" }, remember: inFolder }),
      "INPUT_INVALID",
    ],
    [
      "with something else than a pattern",
      (argsDigest) => ({ decision: "allow", argsDigest, remember: { for: "always", pattern: { tools: "*" } } }),
      "INPUT_INVALID",
    ],
    ["for something else", (argsDigest) => ({ decision: "allow", argsDigest, remember: { for: "everybody" } }), "INPUT_INVALID"],
    [
      "with the digest of other arguments",
      () => ({ decision: "allow", argsDigest: "0".repeat(64), remember: { for: "always" } }),
      "APPROVAL_MISMATCH",
    ],
  ])("is refused %s: nothing is decided, and nothing remembered", async (_, jsonOf, code) => {
    const made = scene();
    await made.begin("a", { path: "src/1" });
    const [approval] = (await made.inbox()).approvals;
    const rules = (await made.ask("/api/approval-rules", { headers: bearer("dora") })).body;
    expect((await made.decide(approval, jsonOf(approval?.argsDigest ?? ""), bearer("dora"))).body).toMatchObject({ code });
    expect([made.ran, (await made.inbox()).approvals.length, (await made.snapshot("a")).remembered]).toEqual([[], 1, undefined]);
    expect((await made.ask("/api/approval-rules", { headers: bearer("dora") })).body).toEqual(rules);
  });

  it("M07: is replayed under its key, and a second decision is refused and leaves no rule", async () => {
    const made = scene();
    await made.begin("a", { path: "src/1" });
    const [approval] = (await made.inbox()).approvals;
    const path = `/api/sessions/a/approvals/${approval?.callKey}`;
    const sent = { json: allowed(approval, { remember: inFolder }), headers: { ...bearer("anne"), "Idempotency-Key": "k1" } };
    expect([(await made.ask(path, sent)).status, (await made.ask(path, sent)).status]).toEqual([202, 200]);
    const second = await made.decide(approval, allowed(approval, { remember: { for: "always" } }), bearer("emil"));
    expect(second).toMatchObject({ status: 409, body: { code: "APPROVAL_DECIDED" } });
    expect((await made.ask("/api/approval-rules", { headers: bearer("emil") })).body).toMatchObject({ rules: [] });
  });

  it("is refused by a server without a memory, which lists no rules", async () => {
    const ran: JsonObject[] = [];
    const made = { ...scene({ agents: [carefulAgent(ran)] }) };
    const plain = testServer({ agents: [carefulAgent(ran)], authenticate, store: memoryStore() });
    expect((await plain.ask("/api/approval-rules", { headers: bearer("anne") })).body).toEqual({ remembers: false, rules: [] });
    await made.begin("a", { path: "src/1" });
    const [approval] = (await made.inbox()).approvals;
    await plain.ask("/api/sessions", { json: { id: "a" }, headers: bearer("anne") });
    expect(
      await plain.refused(`/api/sessions/a/approvals/${approval?.callKey}`, {
        json: allowed(approval, { remember: inFolder }),
        headers: bearer("anne"),
      }),
    ).toMatchObject({
      status: 400,
      detail: "This server remembers no decisions.",
    });
  });
});

/** The types of the notifications of a stream, up to one of this type. */
async function typesUpTo(stream: Response, last: string): Promise<readonly string[]> {
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes(`"${last}"`)) text += (await reader?.read())?.value ?? "";
  await reader?.cancel();
  return [...text.matchAll(/"notification":\{"type":"(\w+)"/g)].map(([, type = ""]) => type);
}

describe("a notification of the product over HTTP", () => {
  it("A10: comes from trusted callers alone, and reaches the users of the scope or one of them", async () => {
    const { send, refused } = scene();
    const streams = await Promise.all(["anne", "ben"].map((user) => send("/api/notifications", { headers: bearer(user) })));
    const foreign = await send("/api/notifications", { headers: bearer("anne", "kitchen") });
    const publish = (json: object, user = "service") => ({ json, headers: bearer(user) });
    expect(await refused("/api/notifications", publish({ type: "refresh" }, "anne"))).toMatchObject({ status: 403, code: "FORBIDDEN" });
    expect(await refused("/api/notifications", publish({ type: "Not Good" }))).toMatchObject({ status: 400, code: "INPUT_INVALID" });
    expect(await refused("/api/notifications", publish({ type: "x", data: "y".repeat(300_000) }))).toMatchObject({ status: 413 });
    expect((await send("/api/notifications", publish({ type: "job_progress", data: { done: 3 } }))).status).toBe(202);
    expect((await send("/api/notifications", publish({ type: "refresh", to: "ben" }))).status).toBe(202);
    expect((await send("/api/notifications", publish({ type: "system", data: "Down at nine." }))).status).toBe(202);
    expect(await Promise.all(streams.map((stream) => typesUpTo(stream, "system")))).toEqual([
      ["job_progress", "system"],
      ["job_progress", "refresh", "system"],
    ]);
    await foreign.body?.cancel();
  });
});
