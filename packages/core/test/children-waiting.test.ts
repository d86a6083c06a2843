import { describe, expect, it } from "vitest";
import {
  type Agent,
  type AgentSettings,
  agentTool,
  createAgent,
  createSession,
  defineTool,
  execute,
  type Fact,
  resume,
} from "../src/index.ts";
import { memoryStore, type ScriptedProvider, scripted } from "../src/memory/index.ts";
import type { SessionStore } from "../src/ports/index.ts";
import { finalText } from "./final-text.ts";
import { eventsOf, ofType } from "./harness.ts";

/** A model that makes these calls first, and answers with the last result it reads. */
const calling = (calls: readonly object[]): ScriptedProvider =>
  scripted((({ messages }: { readonly messages: readonly { readonly role: string }[] }) =>
    messages.some(({ role }) => role === "tool_result")
      ? { text: finalText(messages), usage: { input: 10, output: 1 } }
      : { calls, usage: { input: 10, output: 1 } }) as never);
const task = (name: string, text = "Do it."): object => ({ name, args: { task: text } });

/** A new build of three agents above one another: the one at the bottom has these tools and makes these calls. */
function build(
  calls: readonly object[],
  tools: AgentSettings["tools"],
): { readonly root: Agent; readonly models: readonly ScriptedProvider[] } {
  const models = [calling([task("middle")]), calling([task("bottom")]), calling(calls)] as const;
  const bottom = createAgent({ name: "bottom", provider: models[2], ...(tools ? { tools } : {}) });
  const middle = createAgent({ name: "middle", provider: models[1], tools: [agentTool({ agent: bottom })] });
  return { root: createAgent({ name: "root", provider: models[0], tools: [agentTool({ agent: middle })] }), models };
}

const removing = (runs: string[], more: object = {}) =>
  defineTool({
    name: "remove",
    description: "Removes.",
    parameters: { type: "object" },
    approval: true,
    ...more,
    execute: (args) => {
      runs.push(JSON.stringify(args));
      return "removed";
    },
  });

const factsOf = (store: SessionStore, session: string): Promise<readonly Fact[]> => store.log.read({ scope: "local", session });

describe("B44: a child that waits for a person, three levels deep", () => {
  it("B44: shows its approval at the root, holds no process, and continues after a decision at the root of another process with a new build", async () => {
    const store = memoryStore();
    const runs: string[] = [];
    const first = createSession({ agent: build([{ name: "remove", args: { path: "/a" } }], [removing(runs)]).root, id: "root", store });
    const waiting = await execute(first, "Go.").result();
    expect(waiting.status).toBe("awaiting_tool_execution");
    expect(waiting.pendingApprovals).toMatchObject([
      { toolName: "remove", args: { path: "/a" }, agent: "bottom", session: expect.stringMatching(/^child-/) },
    ]);
    expect(first.snapshot()).toMatchObject({ status: "waiting", waitsFor: ["children"], run: { pendingChildren: [{ agent: "middle" }] } });
    await first[Symbol.asyncDispose]();
    expect(await store.log.due({ now: Number.MAX_SAFE_INTEGER })).toEqual([]);

    const build2 = build([{ name: "remove", args: { path: "/a" } }], [removing(runs)]);
    const second = createSession({ agent: build2.root, id: "root", store });
    await second.ready();
    const [approval] = second.pendingApprovals;
    const decided = await second.decide(approval?.callKey ?? "", { decision: "allow", argsDigest: approval?.argsDigest ?? "" });
    const { status, text } = await decided.stream().result();
    expect([status, text, runs]).toEqual(["completed", "removed", ['{"path":"/a"}']]);
    expect(build2.models.map(({ requests }) => requests.length)).toEqual([1, 1, 1]);
    expect(second.totalUsage).toMatchObject({ input: 60, output: 6 });

    await expect(second.decide(approval?.callKey ?? "", { decision: "deny" })).rejects.toMatchObject({ code: "APPROVAL_DECIDED" });
    expect(await second.decide(approval?.callKey ?? "", { decision: "allow", argsDigest: approval?.argsDigest ?? "" })).toMatchObject({
      replayed: true,
    });
    expect(runs).toHaveLength(1);
  });
});

/** One agent above another one, which has these tools and makes these calls. */
function pair(calls: readonly object[], tools: AgentSettings["tools"], tasks = [task("worker")]): Agent {
  const worker = createAgent({ name: "worker", provider: calling(calls), ...(tools ? { tools } : {}) });
  return createAgent({ name: "root", provider: calling(tasks), tools: [agentTool({ agent: worker })] });
}

const linkedBy = async (store: SessionStore, session: string): Promise<readonly string[]> =>
  (await factsOf(store, session)).flatMap((fact) => (fact.type === "child.linked" ? [fact.session] : []));
const typesOf = async (store: SessionStore, session: string): Promise<readonly string[]> =>
  (await factsOf(store, session)).map(({ type }) => type);

describe("B44: what else a child may wait for", () => {
  it("B44: a call of a client tool is answered at the root", async () => {
    const lookUp = defineTool({ name: "look_up", description: "Looks up.", parameters: { type: "object" } });
    const session = createSession({ agent: pair([{ name: "look_up", args: { id: 7 } }], [lookUp]), store: memoryStore() });
    const { pendingToolCalls = [] } = await execute(session, "Go.").result();
    expect(pendingToolCalls).toMatchObject([{ toolName: "look_up", args: { id: 7 }, agent: "worker" }]);
    const answered = await session.answer(pendingToolCalls[0]?.callKey ?? "", "found");
    expect((await answered.stream().result()).text).toBe("found");
    await expect(session.answer(pendingToolCalls[0]?.callKey ?? "", "other")).rejects.toMatchObject({ code: "CALL_UNKNOWN" });
  });

  it("B44: two children wait beside one another, and each decision continues its own", async () => {
    const runs: string[] = [];
    const agent = pair([{ name: "remove", args: {} }], [removing(runs)], [task("worker", "a"), task("worker", "b")]);
    const session = createSession({ agent, store: memoryStore() });
    const first = (await execute(session, "Go.").result()).pendingApprovals ?? [];
    expect(first).toHaveLength(2);
    const one = await session.decide(first[0]?.callKey ?? "", { decision: "allow" });
    const second = await one.stream().result();
    expect([second.status, second.pendingApprovals?.map(({ callKey }) => callKey), runs.length]).toEqual([
      "awaiting_tool_execution",
      [first[1]?.callKey],
      1,
    ]);
    const two = await session.decide(first[1]?.callKey ?? "", { decision: "deny", note: "No." });
    const { status, messages } = await two.stream().result();
    expect([status, runs.length, JSON.stringify(messages).includes("TOOL_DENIED")]).toEqual(["completed", 1, true]);
  });

  it("B44: an approval is shown and decided while another call of the child still runs", async () => {
    let release = (_: string): void => {};
    const released = new Promise<string>((resolve) => {
      release = resolve;
    });
    const wait = defineTool({ name: "wait", description: "Waits.", parameters: { type: "object" }, execute: () => released });
    const runs: string[] = [];
    const session = createSession({ agent: pair([{ name: "remove" }, { name: "wait" }], [removing(runs), wait]), store: memoryStore() });
    const stream = execute(session, "Go.");
    for await (const event of stream) {
      if (event.type !== "agent_waiting") continue;
      const [approval] = event.pendingApprovals;
      if (approval) await session.decide(approval.callKey, { decision: "allow" });
      else release("waited");
    }
    expect([(await stream.result()).status, runs.length]).toEqual(["completed", 1]);
  });

  it("B44: a decision is refused at the session of the child, with another digest, and for a call that does not wait", async () => {
    const store = memoryStore();
    const agent = pair([{ name: "remove" }], [removing([])]);
    const session = createSession({ agent, id: "root", store });
    const { pendingApprovals: [approval] = [] } = await execute(session, "Go.").result();
    const callKey = approval?.callKey ?? "";
    const [id = ""] = await linkedBy(store, "root");
    const child = createSession({ agent: createAgent({ name: "worker", provider: calling([]) }), id, store, drives: false });
    await child.ready();
    await expect(child.decide(callKey, { decision: "allow" })).rejects.toMatchObject({ code: "CALL_UNKNOWN", details: { parent: "root" } });
    await expect(session.decide(callKey, { decision: "allow", argsDigest: "0" })).rejects.toMatchObject({ code: "APPROVAL_MISMATCH" });
    await expect(session.decide("foreign.1.0", { decision: "allow" })).rejects.toMatchObject({ code: "CALL_UNKNOWN" });
    expect(await typesOf(store, id)).not.toContain("approval.decided");
  });
});

describe("B44: an abort of a tree", () => {
  it("B44: reaches each child, also while all of them rest, and their usage is counted", async () => {
    const store = memoryStore();
    const first = createSession({ agent: build([{ name: "remove" }], [removing([])]).root, id: "root", store });
    await execute(first, "Go.").result();
    await first[Symbol.asyncDispose]();
    const second = createSession({ agent: build([], []).root, id: "root", store });
    await second.ready();
    const { runId = "" } = second;
    await second.abort();
    expect((await resume(second).result()).status).toBe("aborted");
    expect((await factsOf(store, "root")).at(-1)).toMatchObject({ type: "run.finished", runId, status: "aborted" });
    const [middle = ""] = await linkedBy(store, "root");
    const [bottom = ""] = await linkedBy(store, middle);
    for (const id of [middle, bottom])
      expect((await factsOf(store, id)).findLast(({ type }) => type === "run.finished")).toMatchObject({ status: "aborted" });
    expect(second.totalUsage).toMatchObject({ input: 30, output: 3 });
  });
});

describe("B59 and B60: the stream of a tree", () => {
  it("B59: carries the text, steps and calls of children and of their children, each stream in one rising order", async () => {
    const step = defineTool({
      name: "step",
      description: "Steps.",
      parameters: { type: "object" },
      execute(_, { progress }) {
        progress("Reading").end();
        return "a long enough answer";
      },
    });
    const session = createSession({ agent: build([{ name: "step" }], [step]).root, store: memoryStore() });
    const events = await eventsOf(execute(session, "Go."));
    const places = new Map<string, { seq: number; k: number; lanes: Map<number, number> }>();
    const seen = new Map<string, Set<string>>();
    const follow = (path: string, event: (typeof events)[number]): void => {
      const place = places.get(path) ?? { seq: 0, k: -1, lanes: new Map<number, number>() };
      places.set(path, place);
      seen.set(path, (seen.get(path) ?? new Set()).add(event.type));
      if ("seq" in event) {
        expect(
          event.seq > place.seq || (event.seq === place.seq && event.k > place.k),
          `${path} ${event.type} ${event.seq}.${event.k}`,
        ).toBe(true);
        Object.assign(place, { seq: event.seq, k: event.k });
      }
      if ("lane" in event) {
        expect(event.n, `${path} ${event.type}`).toBe((place.lanes.get(event.lane) ?? 0) + 1);
        place.lanes.set(event.lane, event.n);
      }
      if (event.type === "agent_delta") follow(`${path}/${event.agent}`, event.event);
    };
    for (const event of events) follow("root", event);
    expect([...places.keys()]).toEqual(["root", "root/middle", "root/middle/bottom"]);
    expect([...(seen.get("root/middle/bottom") ?? [])]).toEqual(
      expect.arrayContaining(["text_delta", "progress", "tool_execution_start", "tool_execution_end", "run_end"]),
    );
    expect(ofType(events, "agent_start")).toHaveLength(1);
    expect(ofType(events, "agent_end")).toHaveLength(1);
  });
});
