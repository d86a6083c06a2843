import { describe, expect, it } from "vitest";
import { snapshotLimits } from "../src/driver/setup/fold-snapshot-limits.ts";
import { type AgentSession, createAgent, createSession, type DeclaredTool, defineTool, execute, resume, systemText } from "../src/index.ts";
import { scripted } from "../src/memory/index.ts";
import { calm, type World, world } from "./harness.ts";

const ref = { scope: "local", session: "s1" };
const parameters = { type: "object" } as const;
const choose: DeclaredTool = { name: "choose", description: "Lets the person choose.", parameters };
const mismatch = { code: "SESSION_AGENT_MISMATCH" };

/** A session with one answer, whose handle was let go of. */
async function kept(declared: { readonly tools?: readonly DeclaredTool[]; readonly prompt?: string } = {}): Promise<World> {
  const made = world(() => ({ text: "yes" }), { prompt: "Be kind.", session: declared });
  await execute(made.session, "one").result();
  await made.session[Symbol.asyncDispose]();
  return made;
}

/** A handle with other options than the session began with: nothing is given but what is asked for. */
function restored({ store, clock, agent }: World, options: object = {}): AgentSession {
  return createSession({ agent, store, clock, id: "s1", ...options });
}

const otherUser = createAgent({ name: "stranger", provider: scripted(() => ({ text: "I am another." })) });

describe("a session that is restored under another agent", () => {
  const uses: readonly (readonly [string, (session: AgentSession) => Promise<unknown>])[] = [
    ["is read", (session) => session.ready()],
    ["is given an input", (session) => execute(session, "two").result()],
    ["is given an input without a waiting caller", (session) => session.submit("two")],
    ["is gone on with", (session) => resume(session).result()],
    ["is opened", (session) => session.open()],
    ["is aborted", (session) => session.abort()],
    ["is changed", (session) => session.change({ title: "Mine" })],
    ["is followed", (session) => new Promise((_, reject) => session.follow({ events() {}, lost: reject }))],
  ];

  it.each(uses)("is refused when it %s, and nothing is recorded", async (_, use) => {
    const made = await kept();
    const before = await made.facts();
    const other = restored(made, { agent: otherUser });
    await expect(use(other)).rejects.toMatchObject(mismatch);
    await calm();
    expect(await made.facts()).toEqual(before);
    expect((await made.store.log.head(ref)).lease).toBeUndefined();
  });

  it("is refused with the name of its own agent and what to do", async () => {
    const other = restored(await kept(), { agent: otherUser });
    const message = "The session `s1` has the agent `tester`, not `stranger`: a session keeps the agent that it began with.";
    const fix = "Open it with the agent `tester`, or begin a new session.";
    await expect(other.ready()).rejects.toMatchObject({ ...mismatch, message, fix, retryable: false, details: { agent: "tester" } });
  });

  it("is refused where its state comes from a snapshot", async () => {
    const made = world(() => ({ text: "yes" }), { session: { tools: [choose] } });
    while ((await made.facts()).length <= snapshotLimits.facts) await execute(made.session, "again").result();
    await calm();
    expect(await made.store.snapshots.get(ref, "fold")).toBeDefined();
    await made.session[Symbol.asyncDispose]();
    await expect(restored(made, { agent: otherUser, snapshotCheckShare: 0 }).ready()).rejects.toMatchObject(mismatch);
    await execute(restored(made, { snapshotCheckShare: 0 }), "last").result();
    expect(made.provider.requests.at(-1)?.tools?.map(({ name }) => name)).toEqual(["choose"]);
  });

  it("is refused where the other agent began it after this handle had found no log", async () => {
    const made = world(() => ({ text: "yes" }));
    const other = restored(made, { agent: otherUser, leaseMs: 60_000 });
    await other.ready();
    const front = made.again({ drives: false });
    await front.open();
    await expect(execute(other, "two").result()).rejects.toMatchObject(mismatch);
    await calm();
    expect((await made.facts()).filter(({ type }) => type === "input.accepted")).toEqual([]);
    expect((await made.store.log.head(ref)).lease, "its owner can run it at once").toBeUndefined();
    expect((await execute(made.session, "three").result()).status).toBe("completed");
  });

  it("leaves the handles that have its own agent alone", async () => {
    const made = await kept();
    const own = restored(made);
    await expect(restored(made, { agent: otherUser }).ready()).rejects.toMatchObject(mismatch);
    expect((await execute(own, "two").result()).text).toBe("yes");
    const runs = (await made.facts()).filter((fact) => fact.type === "run.started");
    expect(runs.map((fact) => fact.type === "run.started" && fact.agent)).toEqual(["tester", "tester"]);
  });
});

describe("a session that is restored without its tools and its prompt", () => {
  it("has those that its log begins with", async () => {
    const made = await kept({ tools: [choose], prompt: "Be brief." });
    expect((await execute(restored(made), "two").result()).status).toBe("completed");
    const [first, second] = made.provider.requests;
    expect([second?.system, second?.tools]).toEqual([first?.system, first?.tools]);
    expect([systemText(second?.system), second?.tools?.map(({ name }) => name)]).toEqual(["Be brief.", ["choose"]]);
    const [before, after] = (await made.facts()).filter((fact) => fact.type === "run.started");
    expect(after).toMatchObject({ agentDigest: before?.type === "run.started" && before.agentDigest });
  });

  it("takes results of the calls that it had asked for", async () => {
    const made = world([{ calls: [{ name: "choose", id: "c" }] }, { text: "Blue it is." }], { session: { tools: [choose] } });
    await execute(made.session, "hi").result();
    await made.session[Symbol.asyncDispose]();
    const result = await execute(restored(made), [{ role: "tool_result", toolCallId: "c", content: "blue" }]).result();
    expect(result).toMatchObject({ status: "completed", text: "Blue it is." });
    expect(made.provider.requests[1]?.tools).toEqual(made.provider.requests[0]?.tools);
  });

  it("has its agent's own prompt where it began without another", async () => {
    const made = await kept({ tools: [choose] });
    await execute(restored(made), "two").result();
    expect(systemText(made.provider.requests[1]?.system)).toBe("Be kind.");
  });

  it("is refused where its agent has a tool of the same name by now", async () => {
    const made = await kept({ tools: [choose] });
    const own = defineTool({ ...choose, execute: () => "mine" });
    const agent = createAgent({ ...made.agent, tools: [own] });
    await expect(restored(made, { agent }).ready()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("choose"),
    });
  });
});

describe("a session that is restored with tools and a prompt", () => {
  it("takes those that it began with, in whatever order their members come", async () => {
    const made = await kept({ tools: [choose], prompt: "Be brief." });
    const tools = [{ parameters: { type: "object" }, description: choose.description, name: "choose", more: undefined }];
    expect((await restored(made, { tools, prompt: "Be brief." }).ready()).messages).toHaveLength(2);
  });

  it("takes no tools for tools that it did not have", async () => {
    expect((await restored(await kept(), { tools: [] }).ready()).messages).toHaveLength(2);
  });

  it.each<[string, string, object]>([
    ["another prompt", "prompt", { prompt: "Be rude." }],
    ["no tools", "tools", { tools: [] }],
    ["another tool", "tools", { tools: [choose, { ...choose, name: "more" }] }],
    ["a tool that says something else", "tools", { tools: [{ ...choose, description: "Chooses." }] }],
  ])("is refused for %s, whose words are not shown", async (_, option, given) => {
    const made = await kept({ tools: [choose], prompt: "Be brief." });
    const before = await made.facts();
    const refused = execute(restored(made, given), "two").result();
    await expect(refused).rejects.toMatchObject({ ...mismatch, details: { option }, fix: expect.stringContaining(`\`${option}\` out`) });
    await expect(refused).rejects.not.toThrow(/rude|brief|Chooses/);
    expect(await made.facts()).toEqual(before);
  });

  it("is refused for a prompt where it began without one", async () => {
    await expect(restored(await kept(), { prompt: "" }).ready()).rejects.toMatchObject(mismatch);
  });
});
