import { createHash } from "node:crypto";
import { assertEventStream } from "@loopwright/testing";
import { beforeEach, describe, expect, it } from "vitest";
import {
  type AgentSession,
  createAgent,
  defineTool,
  execute,
  type GateVerdict,
  type Hooks,
  type PendingApproval,
  resume,
  type StandardSchema,
  type ToolResultMessage,
} from "../src/index.ts";
import { calm, deferred, eventsOf, ofType, type World, world } from "./harness.ts";

const object = { type: "object" } as const;
const ran: unknown[] = [];
const gated: string[] = [];
const remove = defineTool({
  name: "remove",
  description: "Removes a file.",
  parameters: { type: "object", properties: { path: { type: "string" }, force: { type: "boolean" } }, required: ["path"] },
  execute: (args) => {
    ran.push(args);
    return `removed ${(args as { path: string }).path}`;
  },
});
const look = defineTool({ name: "look", description: "Looks.", parameters: object, execute: () => `looked ${ran.push("look")}` });
const pick = defineTool({ name: "pick", description: "Asks the client.", parameters: object });
const removes = (path: string, id = "c1"): object => ({ name: "remove", args: { path }, id });
const answer = (toolCallId: string, content: string): ToolResultMessage => ({ role: "tool_result", toolCallId, content });
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A gate that asks about each `remove`, and notes that it was asked. */
const asks = (more: Partial<Extract<GateVerdict, { action: "ask" }>> = {}): Hooks => ({
  name: "asks",
  gate: ({ call }) => {
    gated.push(call.callKey);
    return call.name === "remove" ? { action: "ask", ...more } : undefined;
  },
});

const asked = (script: readonly object[], hooks: readonly Hooks[] = [asks()], session = {}): World =>
  world(script as never, { tools: [remove, look, pick], hooks, session });

/** The one approval that the session waits for. */
function approvalOf(session: AgentSession): PendingApproval {
  expect(session.pendingApprovals).toHaveLength(1);
  return session.pendingApprovals[0] as PendingApproval;
}

/** Digests are made by another thread: nothing else shows when. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await calm();
}

beforeEach(() => {
  ran.length = 0;
  gated.length = 0;
});

describe("a gate that asks", () => {
  it("makes the run wait: nothing has run, and every subscriber gets the request", async () => {
    const { session, store, provider, facts } = asked([{ calls: [removes("/tmp/a")] }], [asks({ reason: "It is gone for good." })]);
    const stream = execute(session, "go");
    const events = await eventsOf(stream);
    assertEventStream(events);
    const pending = {
      toolCallId: "c1",
      callKey: expect.any(String),
      toolName: "remove",
      args: { path: "/tmp/a" },
      argsDigest: sha256('{"path":"/tmp/a"}'),
      reason: "It is gone for good.",
    };
    expect(ofType(events, "approval_requested")).toEqual([expect.objectContaining(pending)]);
    expect(events.at(-1)).toEqual({
      type: "execute_complete",
      status: "awaiting_tool_execution",
      pendingToolCalls: [],
      pendingApprovals: [pending],
    });
    expect(await stream.result()).toMatchObject({ status: "awaiting_tool_execution", pendingApprovals: [pending] });
    expect(session).toMatchObject({ status: "awaiting_tool_execution", isResting: true, pendingApprovals: [pending] });
    expect(session.snapshot()).toMatchObject({ status: "waiting", run: { pendingApprovals: [pending], pendingToolCalls: [] } });
    expect(await store.index.get("local", "s1")).toMatchObject({ status: "waiting", waitsFor: ["approvals"] });
    expect((await facts()).at(-1)).toMatchObject({ type: "approval.requested", argsDigest: pending.argsDigest });
    expect([ran, provider.requests.length]).toEqual([[], 1]);
  });

  it("lets the call run once it is allowed, and is not asked about it again", async () => {
    const { session, store, provider } = asked([{ calls: [removes("/tmp/a")] }, { text: "gone" }]);
    const { runId } = await execute(session, "go").result();
    const { callKey, argsDigest } = approvalOf(session);
    const decided = await session.decide(callKey, { decision: "allow", note: "fine", argsDigest });
    expect(decided).toMatchObject({ runId, replayed: false });
    const stream = resume(session);
    assertEventStream(await eventsOf(stream));
    expect(await stream.result()).toMatchObject({ status: "completed", text: "gone" });
    expect([ran, gated]).toEqual([[{ path: "/tmp/a" }], [callKey]]);
    expect(provider.requests[1]?.messages.at(-1)).toMatchObject({ content: [{ type: "text", text: "removed /tmp/a" }] });
    expect(session.pendingApprovals).toEqual([]);
    expect(await store.index.get("local", "s1")).not.toHaveProperty("waitsFor");
  });

  it("has a denied call answered with the note, and never run", async () => {
    const { session, provider, facts } = asked([{ calls: [removes("/tmp/a")] }, { text: "as you wish" }]);
    await execute(session, "go").result();
    await session.decide(approvalOf(session).callKey, { decision: "deny", note: "Not today." });
    expect((await resume(session).result()).text).toBe("as you wish");
    expect(ran).toEqual([]);
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain("TOOL_DENIED: Denied. Not today.");
    expect((await facts()).find(({ type }) => type === "tool.finished")).toMatchObject({ outcome: "denied" });
  });

  it.each(["before", "after"])("is overruled by a gate %s it that denies", async (place) => {
    const denies: Hooks = { name: "gate", gate: () => ({ action: "deny", reason: "never" }) };
    const hooks = place === "before" ? [denies, asks()] : [asks(), denies];
    const { session, types } = asked([{ calls: [removes("/tmp/a")] }, { text: "ok" }], hooks);
    expect((await execute(session, "go").result()).text).toBe("ok");
    expect([ran, await types()]).toEqual([[], expect.not.arrayContaining(["approval.requested"])]);
  });

  it("asks about the arguments as all gates have edited them, which the tool then gets", async () => {
    const seen: unknown[] = [];
    const edits = (field: string, value: string | boolean): Hooks => ({
      name: `edits ${field}`,
      gate: ({ call }) => {
        seen.push(call.args);
        return { action: "edit", args: { ...call.args, [field]: value } };
      },
    });
    const hooks = [
      edits("path", "/safe"),
      asks({ reason: "one", timeoutMs: 9_000 }),
      edits("force", true),
      { ...asks({ reason: "two", timeoutMs: 4_000 }), name: "asks again" },
    ];
    const { session, clock } = asked([{ calls: [removes("/tmp/a")] }, { text: "ok" }], hooks);
    await execute(session, "go").result();
    const { args, argsDigest, deadline, reason, callKey } = approvalOf(session);
    expect(seen).toEqual([{ path: "/tmp/a" }, { path: "/safe" }]);
    expect([args, argsDigest]).toEqual([{ path: "/safe", force: true }, sha256('{"force":true,"path":"/safe"}')]);
    expect([reason, deadline]).toEqual(["one; two", clock.now() + 4_000]);
    await session.decide(callKey, { decision: "allow" });
    await calm();
    expect(ran).toEqual([{ path: "/safe", force: true }]);
  });

  it("that edits the arguments so that they do not fit the schema requests no approval", async () => {
    const hooks: readonly Hooks[] = [asks(), { name: "gate", gate: () => ({ action: "edit", args: { path: 7 } }) }];
    const { session, types } = asked([{ calls: [removes("/tmp/a")] }, { text: "sorry" }], hooks);
    expect((await execute(session, "go").result()).text).toBe("sorry");
    expect(await types()).not.toContain("approval.requested");
  });

  it.each([{ action: "ask", timeoutMs: 0 }, { action: "ask", timeoutMs: Number.NaN }, { action: "perhaps" }])(
    "fails the call with what is no verdict: %j",
    async (verdict) => {
      const { session, provider } = asked(
        [{ calls: [removes("/tmp/a")] }, { text: "ok" }],
        [{ name: "gate", gate: () => verdict as GateVerdict }],
      );
      expect((await execute(session, "go").result()).text).toBe("ok");
      expect([ran, JSON.stringify(provider.requests[1]?.messages.at(-1))]).toEqual([
        [],
        expect.stringContaining("The hook `gate` of `gate`"),
      ]);
    },
  );

  it("about an attempt after the first has the call interrupted: it may have been done already", async () => {
    const hooks: Hooks = { name: "gate", gate: () => (++count === 1 ? undefined : { action: "ask" }) };
    let count = 0;
    const never = defineTool({
      name: "again",
      description: "Hangs.",
      parameters: object,
      replay: "idempotent",
      execute: () => new Promise(() => {}),
    });
    const made = world([{ calls: [{ name: "again" }] }, { text: "odd" }] as never, { tools: [never], hooks: [hooks] });
    execute(made.session, "go");
    await calm();
    made.clock.advance(20_001);
    expect((await resume(made.again()).result()).text).toBe("odd");
    expect(JSON.stringify(made.provider.requests[1]?.messages.at(-1))).toContain("its outcome is unknown");
  });
});

describe("a decision with edited arguments", () => {
  it("makes the tool run with them, and every subscriber gets them", async () => {
    const { session, facts } = asked([{ calls: [removes("/tmp/a")] }, { text: "ok" }]);
    await execute(session, "go").result();
    const published: unknown[] = [];
    session.subscribe((events) => void published.push(...events));
    const { callKey, argsDigest } = approvalOf(session);
    await session.decide(callKey, { decision: "allow", args: { path: "/tmp/b" }, argsDigest });
    await calm();
    expect(ran).toEqual([{ path: "/tmp/b" }]);
    expect(published).toContainEqual(
      expect.objectContaining({ type: "approval_decided", decision: "allow", by: "local", args: { path: "/tmp/b" } }),
    );
    expect(published).toContainEqual(expect.objectContaining({ type: "tool_execution_start", args: { path: "/tmp/b" } }));
    expect((await facts()).find(({ type }) => type === "approval.decided")).toMatchObject({ args: { path: "/tmp/b" } });
  });

  it("that do not fit the tool's schema is refused, and the call waits as before", async () => {
    const { session, types } = asked([{ calls: [removes("/tmp/a")] }, { text: "ok" }]);
    await execute(session, "go").result();
    const before = await types();
    const { callKey } = approvalOf(session);
    await expect(session.decide(callKey, { decision: "allow", args: { path: 7 } })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("path"),
    });
    expect([await types(), approvalOf(session).callKey]).toEqual([before, callKey]);
  });

  it("is judged by a Standard Schema too, and once more by the owner that starts the tool", async () => {
    const checked: unknown[] = [];
    const parameters: StandardSchema<{ n: number }> = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: async (value: unknown) => {
          checked.push(value);
          const { n } = value as { n: unknown };
          return typeof n === "number" ? { value: { n: n * 2 } } : { issues: [{ message: "no number", path: ["n"] }] };
        },
        jsonSchema: { input: () => object, output: () => object },
      },
    } as never;
    const got: unknown[] = [];
    const count = defineTool({ name: "count", description: "Counts.", parameters, execute: (args) => void got.push(args) });
    const made = world([{ calls: [{ name: "count", args: { n: 1 } }] }, { text: "ok" }] as never, {
      tools: [count],
      hooks: [{ name: "gate", gate: () => ({ action: "ask" }) }],
    });
    await execute(made.session, "go").result();
    const { callKey } = approvalOf(made.session);
    await expect(made.session.decide(callKey, { decision: "allow", args: { n: "x" } })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await made.session.decide(callKey, { decision: "allow", args: { n: 4 } });
    await calm();
    expect(got).toEqual([{ n: 8 }]);
    expect(checked).toEqual([{ n: 1 }, { n: "x" }, { n: 4 }, { n: 4 }]);
  });

  it("taken by a node that does not know the tool is checked by the one that runs it", async () => {
    const { session, again, provider } = asked([{ calls: [removes("/tmp/a")] }, { text: "sorry" }]);
    await execute(session, "go").result();
    const bare = again({ agent: createAgent({ name: "tester", provider }), drives: false });
    await bare.ready();
    await bare.decide(approvalOf(bare).callKey, { decision: "allow", args: { path: 7 } });
    expect((await resume(session).result()).text).toBe("sorry");
    expect([ran, JSON.stringify(provider.requests[1]?.messages.at(-1))]).toEqual([[], expect.stringContaining("TOOL_ARGUMENTS")]);
  });

  it.each([
    ["a denial with arguments", { decision: "deny", args: { path: "/x" } }],
    ["neither yes nor no", { decision: "maybe" }],
    ["arguments that are no object", { decision: "allow", args: [1] }],
    ["a forbidden key", { decision: "allow", args: JSON.parse('{"__proto__":{"a":1},"path":"/x"}') }],
    ["a note that is too long", { decision: "allow", note: "x".repeat(2_001) }],
    ["a note that is no text", { decision: "allow", note: 7 }],
  ])("that is %s is refused", async (_, decision) => {
    const { session } = asked([{ calls: [removes("/tmp/a")] }]);
    await execute(session, "go").result();
    await expect(session.decide(approvalOf(session).callKey, decision as never)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect(session.pendingApprovals).toHaveLength(1);
  });

  it("keeps no lone surrogate", async () => {
    const { session } = asked([{ calls: [removes("/tmp/a")] }, { text: "ok" }]);
    await execute(session, "go").result();
    await session.decide(approvalOf(session).callKey, { decision: "allow", args: { path: "\ud800x" }, note: "\udc00" });
    await calm();
    expect(ran).toEqual([{ path: "\ufffdx" }]);
  });
});

describe("M07: a decision", () => {
  it("about other arguments than those that wait is refused", async () => {
    const { session } = asked([{ calls: [removes("/tmp/a")] }, { text: "ok" }]);
    await execute(session, "go").result();
    const { callKey } = approvalOf(session);
    await expect(session.decide(callKey, { decision: "allow", argsDigest: sha256('{"path":"/tmp/b"}') })).rejects.toMatchObject({
      code: "APPROVAL_MISMATCH",
    });
    expect(session.pendingApprovals).toHaveLength(1);
  });

  it("that another person repeats or contradicts is refused with the first one, also when the run is over", async () => {
    const { session, again, clock } = asked([{ calls: [removes("/tmp/a")] }, { text: "ok" }]);
    await execute(session, "go").result();
    const { callKey } = approvalOf(session);
    const access = { user: "ada", scope: "local" };
    const other = { access: { user: "bob", scope: "local" } };
    await session.decide(callKey, { decision: "allow", note: "go", access });
    const refusal = { code: "APPROVAL_DECIDED", details: { callKey, decision: "allow", by: "ada", note: "go", at: clock.now() } };
    await expect(session.decide(callKey, { decision: "deny", ...other })).rejects.toMatchObject(refusal);
    await resume(session).result();
    await expect(session.decide(callKey, { decision: "allow", note: "go", ...other })).rejects.toMatchObject(refusal);
    await expect(session.decide(callKey, { decision: "deny", access })).rejects.toMatchObject(refusal);
    await session[Symbol.asyncDispose]();
    await expect(again().decide(callKey, { decision: "deny", access })).rejects.toMatchObject(refusal);
    expect(ran).toHaveLength(1);
  });

  it("that is repeated by the same person or under the same key is the first one, also after the session was closed", async () => {
    const { session, again } = asked([{ calls: [removes("/tmp/a")] }, { text: "ok" }]);
    await execute(session, "go").result();
    const { callKey } = approvalOf(session);
    const { runId, seq } = await session.decide(callKey, { decision: "allow", idempotencyKey: "k" });
    const replayed = { runId, seq, replayed: true };
    expect(await session.decide(callKey, { decision: "allow" })).toMatchObject(replayed);
    const access = { user: "somebody else", scope: "local" };
    expect(await session.decide(callKey, { decision: "allow", idempotencyKey: "k", access })).toMatchObject(replayed);
    await resume(session).result();
    expect(await again().decide(callKey, { decision: "allow", idempotencyKey: "k" })).toMatchObject(replayed);
    const reused = { code: "KEY_REUSED" };
    await expect(session.decide(callKey, { decision: "deny", idempotencyKey: "k" })).rejects.toMatchObject(reused);
    await expect(session.decide("other.1.0", { decision: "allow", idempotencyKey: "k" })).rejects.toMatchObject(reused);
    await session.end();
    expect(await session.decide(callKey, { decision: "allow" })).toMatchObject(replayed);
    expect(ran).toHaveLength(1);
  });

  it("of two that come at once is one; the other learns of it", async () => {
    const { session, again, facts } = asked([{ calls: [removes("/tmp/a")] }, { text: "ok" }]);
    await execute(session, "go").result();
    const { callKey } = approvalOf(session);
    const [other, third] = [again(), again({ drives: false })];
    const all = await Promise.allSettled([
      session.decide(callKey, { decision: "allow", access: { user: "a", scope: "local" } }),
      other.decide(callKey, { decision: "deny", access: { user: "b", scope: "local" } }),
      third.decide(callKey, { decision: "allow", access: { user: "c", scope: "local" } }),
    ]);
    expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const one of all) if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "APPROVAL_DECIDED" });
    expect((await facts()).filter(({ type }) => type === "approval.decided")).toHaveLength(1);
  });

  it("on a call that is unknown, has its result, or is the client's to answer is refused", async () => {
    const { session } = asked([
      {
        calls: [
          { name: "look", id: "l" },
          { name: "pick", id: "p" },
        ],
      },
    ]);
    await execute(session, "go").result();
    const run = session.runId ?? "";
    for (const callKey of ["nobody.1.0", `${run}.1.0`, `${run}.1.1`, ""])
      await expect(session.decide(callKey, { decision: "allow" })).rejects.toMatchObject({ code: "CALL_UNKNOWN" });
    expect(session.pendingToolCalls).toHaveLength(1);
  });

  it("by a person of another scope is refused", async () => {
    const { session } = asked([{ calls: [removes("/tmp/a")] }]);
    await execute(session, "go").result();
    const access = { user: "eve", scope: "other" };
    await expect(session.decide(approvalOf(session).callKey, { decision: "allow", access })).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  it("on a call of a stopped run, or of a closed session, is refused with that reason", async () => {
    const { session } = asked([{ calls: [removes("/tmp/a")] }, { calls: [removes("/tmp/b", "c2")] }]);
    await execute(session, "go").result();
    const { callKey } = approvalOf(session);
    await session.abort();
    const stopped = { code: "APPROVAL_DECIDED", message: expect.stringContaining("stopped"), details: { callKey, outcome: "aborted" } };
    await expect(session.decide(callKey, { decision: "allow" })).rejects.toMatchObject(stopped);
    await calm();
    await expect(session.decide(callKey, { decision: "allow" })).rejects.toMatchObject(stopped);
    await execute(session, "again").result();
    const second = approvalOf(session).callKey;
    await session.end();
    await expect(session.decide(second, { decision: "allow" })).rejects.toMatchObject({ code: "SESSION_CLOSED" });
    expect(ran).toEqual([]);
  });
});

describe("the deadline of an approval", () => {
  const hooks = [asks({ timeoutMs: 60_000 })];

  it("passes: the model reads that no decision was made, and a later decision is refused", async () => {
    const { session, clock, provider, facts } = asked([{ calls: [removes("/tmp/a")] }, { text: "too late" }], hooks);
    await execute(session, "go").result();
    const { callKey, deadline } = approvalOf(session);
    expect(deadline).toBe(clock.now() + 60_000);
    clock.advance(60_001);
    await calm();
    expect((await facts()).find(({ type }) => type === "tool.finished")).toMatchObject({ outcome: "expired" });
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain("no decision was made before the deadline");
    const late = { code: "APPROVAL_DECIDED", details: { callKey, outcome: "expired" } };
    await expect(session.decide(callKey, { decision: "allow" })).rejects.toMatchObject(late);
    expect([ran, gated]).toEqual([[], [callKey]]);
  });

  it("passes while no process runs: it is a date in the log, and the next process records that it has passed", async () => {
    const { session, again, store, clock } = asked([{ calls: [removes("/tmp/a")] }, { text: "too late" }], hooks);
    await execute(session, "go").result();
    const { callKey, deadline } = approvalOf(session);
    await session[Symbol.asyncDispose]();
    expect(await store.log.due({ now: clock.now() })).toEqual([]);
    clock.advance(3 * 86_400_000);
    expect(await store.log.due({ now: clock.now() })).toMatchObject([{ due: deadline }]);
    const publisher = again({ drives: false });
    await expect(publisher.decide(callKey, { decision: "allow" })).rejects.toMatchObject({ code: "APPROVAL_DECIDED" });
    const worker = again();
    worker.follow({ events: () => {} });
    await calm();
    clock.advance(1);
    await calm();
    expect(worker.messages.at(-1)).toMatchObject({ content: [{ type: "text", text: "too late" }] });
    expect(ran).toEqual([]);
  });

  it("holds for its own call alone", async () => {
    const short: Hooks = { name: "gate", gate: ({ call }) => ({ action: "ask", ...(call.id === "c1" ? { timeoutMs: 1_000 } : {}) }) };
    const { session, clock } = asked([{ calls: [removes("/a", "c1"), removes("/b", "c2")] }, { text: "ok" }], [short]);
    await execute(session, "go").result();
    expect(session.pendingApprovals).toHaveLength(2);
    clock.advance(1_001);
    await calm();
    await session.decide(approvalOf(session).callKey, { decision: "allow" });
    expect((await resume(session).result()).text).toBe("ok");
    expect(ran).toEqual([{ path: "/b" }]);
  });
});

describe("a turn with several calls", () => {
  it("decided on in part waits for the rest; what is allowed runs meanwhile", async () => {
    const { session, provider } = asked([{ calls: [removes("/a", "c1"), removes("/b", "c2")] }, { text: "done" }]);
    await execute(session, "go").result();
    const [a, b] = session.pendingApprovals as [PendingApproval, PendingApproval];
    await session.decide(b.callKey, { decision: "allow" });
    const partly = await resume(session).result();
    expect(partly).toMatchObject({ status: "awaiting_tool_execution", pendingApprovals: [{ callKey: a.callKey }] });
    expect([ran, provider.requests.length]).toEqual([[{ path: "/b" }], 1]);
    await session.decide(a.callKey, { decision: "deny" });
    expect((await resume(session).result()).text).toBe("done");
    expect(ran).toEqual([{ path: "/b" }]);
    const results = provider.requests[1]?.messages.slice(-2).map((message) => "toolCallId" in message && message.toolCallId);
    expect(results).toEqual(["c1", "c2"]);
  });

  it("of a server tool, a client tool and an approval runs each once, and continues with all results", async () => {
    const calls = [{ name: "look", id: "l" }, { name: "pick", id: "p" }, removes("/a")];
    const { session, store, provider } = asked([{ calls }, { text: "all" }]);
    const first = await execute(session, "go").result();
    expect(first).toMatchObject({ pendingToolCalls: [{ toolCallId: "p" }], pendingApprovals: [{ toolCallId: "c1" }] });
    expect(await store.index.get("local", "s1")).toMatchObject({ status: "waiting", waitsFor: ["client_tools", "approvals"] });
    expect(ran).toEqual(["look"]);
    const second = await execute(session, [answer("p", "blue")]).result();
    expect(second).toMatchObject({ status: "awaiting_tool_execution", pendingToolCalls: [], pendingApprovals: [{ toolCallId: "c1" }] });
    await session.decide(approvalOf(session).callKey, { decision: "allow" });
    expect((await resume(session).result()).text).toBe("all");
    expect(ran).toEqual(["look", { path: "/a" }]);
    expect(provider.requests).toHaveLength(2);
    const results = provider.requests[1]?.messages.slice(-3).map((message) => "toolCallId" in message && message.toolCallId);
    expect(results).toEqual(["l", "p", "c1"]);
  });

  it("runs those that need no leave while the others wait, and is at rest only then", async () => {
    const gate = deferred();
    const slow = defineTool({ name: "slow", description: "Is slow.", parameters: object, execute: () => gate.promise.then(() => "slow") });
    const made = world([{ calls: [removes("/a"), { name: "slow" }] }, { text: "ok" }] as never, { tools: [remove, slow], hooks: [asks()] });
    const stream = execute(made.session, "go");
    await until(() => made.session.pendingApprovals.length === 1);
    expect(made.session.isResting).toBe(false);
    await made.again({ drives: false }).decide(approvalOf(made.session).callKey, { decision: "allow" });
    await calm();
    expect(ran).toEqual([{ path: "/a" }]);
    gate.resolve();
    expect((await stream.result()).text).toBe("ok");
  });
});

describe("while an approval waits", () => {
  it("an abort ends the run by itself, and the call was never run", async () => {
    const { session, types, facts } = asked([{ calls: [removes("/a")] }, { text: "next" }]);
    await execute(session, "go").result();
    expect(await session.abort()).toBe(true);
    await calm();
    expect((await types()).at(-1)).toBe("run.finished");
    expect((await facts()).find(({ type }) => type === "tool.finished")).toMatchObject({ outcome: "aborted" });
    expect((await execute(session, "something else").result()).text).toBe("next");
    expect(ran).toEqual([]);
  });

  it("an input that steers joins before the next model call, one that enqueues follows the run", async () => {
    const { session, provider } = asked([{ calls: [removes("/a")] }, { text: "both" }, { text: "after" }]);
    await execute(session, "go").result();
    await session.submit("mind this", { mode: "steer" });
    await session.submit("and then");
    await calm();
    expect([provider.requests.length, session.pendingApprovals.length]).toEqual([1, 1]);
    await session.decide(approvalOf(session).callKey, { decision: "allow" });
    await calm();
    const last = (turn: number): unknown => provider.requests[turn]?.messages.at(-1);
    expect([last(1), last(2)]).toEqual([
      { role: "user", content: "mind this" },
      { role: "user", content: "and then" },
    ]);
    expect(session.messages.at(-1)).toMatchObject({ content: [{ type: "text", text: "after" }] });
  });

  it("an input that interrupts ends the run and gets one of its own", async () => {
    const { session } = asked([{ calls: [removes("/a")] }, { text: "urgent" }]);
    await execute(session, "go").result();
    const { callKey } = approvalOf(session);
    expect((await execute(session, "stop", { mode: "interrupt" }).result()).text).toBe("urgent");
    await expect(session.decide(callKey, { decision: "allow" })).rejects.toMatchObject({ code: "APPROVAL_DECIDED" });
    expect(ran).toEqual([]);
  });

  it("one that only may be the first is refused", async () => {
    const { session } = asked([{ calls: [removes("/a")] }]);
    await execute(session, "go").result();
    await expect(session.submit("x", { mode: "reject" })).rejects.toMatchObject({ code: "SESSION_BUSY" });
  });
});

describe("M07: the digest of arguments", () => {
  it("does not depend on the order of their members, and large arguments are asked about whole", async () => {
    const text = "x".repeat(200_000);
    const calls = [{ name: "remove", args: { path: "a", b: { d: 1, c: [2, { f: null, e: text }] } }, id: "big" }];
    const { session, again } = asked(
      [{ calls }, { text: "ok" }],
      [{ name: "gate", gate: ({ call }) => ({ action: "edit", args: { ...call.args, z: 1 } }) }, asks()],
    );
    await execute(session, "go").result();
    const canonical = `{"b":{"c":[2,{"e":"${text}","f":null}],"d":1},"path":"a","z":1}`;
    expect(approvalOf(session).argsDigest).toBe(sha256(canonical));
    const later = again();
    await later.ready();
    expect(approvalOf(later).args).toEqual(JSON.parse(canonical));
  });
});
