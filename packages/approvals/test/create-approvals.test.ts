import { type Agent, type AgentSession, createAgent, createSession, defineTool, execute, type JsonObject } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { type ApprovalPolicy, type ApprovalRuleStore, createApprovals, inMemoryRules } from "../src/index.ts";

interface Scene {
  readonly session: AgentSession;
  readonly written: JsonObject[];
  readonly approvals: ReturnType<typeof createApprovals>;
  /** One input whose answer calls `write` with these arguments; the key of the call where it waits. */
  write(args: JsonObject): Promise<string | undefined>;
  results(): readonly string[];
}

interface Settings {
  readonly policy?: ApprovalPolicy;
  readonly rules?: ApprovalRuleStore;
  readonly user?: string;
  readonly approval?: boolean;
}

function scene({ policy = {}, rules = inMemoryRules(), user = "anne", approval = true }: Settings = {}): Scene {
  const written: JsonObject[] = [];
  const write = defineTool({
    name: "write",
    description: "Writes a file.",
    parameters: { type: "object" },
    ...(approval ? { approval } : {}),
    execute(args) {
      written.push(args as JsonObject);
      return "written";
    },
  });
  const wanted: JsonObject[] = [];
  const provider = scripted(({ messages }) =>
    messages.at(-1)?.role === "user" ? { calls: [{ name: "write", args: wanted.at(-1) ?? {} }] } : { text: "Done." },
  );
  const approvals = createApprovals({ policy, rules });
  const agent: Agent = createAgent({ name: "writer", provider, tools: [write], hooks: [approvals.hooks] });
  const session = createSession({ agent, store: memoryStore(), access: { user, scope: "team" } });
  return {
    ...{ session, written, approvals },
    async write(args) {
      wanted.push(args);
      const { pendingApprovals } = await execute(session, "Write.").result();
      return pendingApprovals?.[0]?.callKey;
    },
    results: () =>
      session.snapshot().messages.flatMap(({ message }) => (message.role === "tool_result" ? [JSON.stringify(message.content)] : [])),
  };
}

const inSrc = { args: { path: { below: "src/" } } };

async function allow(scene: Scene, callKey: string | undefined, remember?: JsonObject): Promise<void> {
  await scene.session
    .decide(callKey ?? "", { decision: "allow", ...(remember ? { remember } : {}) })
    .then(({ stream }) => stream().result());
}

describe("a decision that is remembered", () => {
  it("holds for later calls of the session that fit, and the log names the person", async () => {
    const made = scene();
    await allow(made, await made.write({ path: "src/a" }), inSrc);
    expect(await made.write({ path: "src/b" })).toBeUndefined();
    expect(made.written).toEqual([{ path: "src/a" }, { path: "src/b" }]);
    expect(await made.write({ path: "etc/b" })).toBeDefined();
    expect(made.session.snapshot().remembered).toEqual([
      expect.objectContaining({ toolName: "write", decision: "allow", pattern: inSrc, by: "anne" }),
    ]);
  });

  it("holds in no other session, and no longer once it is forgotten", async () => {
    const rules = inMemoryRules();
    const [one, other] = [scene({ rules }), scene({ rules })];
    await allow(one, await one.write({ path: "src/a" }), inSrc);
    expect(await other.write({ path: "src/a" })).toBeDefined();
    const callKey = one.session.snapshot().remembered?.[0]?.callKey ?? "";
    await one.session.change({ forget: [callKey] });
    expect(one.session.snapshot().remembered).toBeUndefined();
    expect(await one.write({ path: "src/b" })).toBeDefined();
  });

  it("denies later calls as well, and a denial wins over an approval", async () => {
    const made = scene();
    await allow(made, await made.write({ path: "src/a" }), inSrc);
    const callKey = await made.write({ path: "etc/a" });
    const denied = { decision: "deny", remember: { args: { path: { equals: "src/secret" } } } } as const;
    await made.session.decide(callKey ?? "", denied).then(({ stream }) => stream().result());
    expect(await made.write({ path: "src/secret" })).toBeUndefined();
    expect(made.written).toEqual([{ path: "src/a" }]);
    expect(made.results().at(-1)).toContain("Denied: `anne` has denied such calls for this session.");
  });

  it("of a user holds in all sessions of that user within the scope, and in none of another user", async () => {
    const rules = inMemoryRules();
    const { memory } = createApprovals({ rules });
    await memory.remember({ user: "anne", scope: "team" }, { toolName: "write", decision: "allow", pattern: inSrc });
    await memory.remember({ user: "ben", scope: "other" }, { toolName: "write", decision: "allow", pattern: inSrc });
    const [hers, his] = [scene({ rules }), scene({ rules, user: "ben" })];
    expect([await hers.write({ path: "src/a" }), await his.write({ path: "src/a" })]).toEqual([undefined, expect.any(String)]);
    const [rule] = await memory.list({ user: "anne", scope: "team" });
    expect(await memory.forget({ user: "ben", scope: "team" }, rule?.id ?? "")).toBe(false);
    expect(await memory.forget({ user: "anne", scope: "team" }, rule?.id ?? "")).toBe(true);
    expect(await hers.write({ path: "src/b" })).toBeDefined();
  });

  it("covers nothing where its stored pattern cannot be read, and a person is asked where the rules cannot be read", async () => {
    const rules = inMemoryRules();
    await rules.put(
      { user: "anne", scope: "team" },
      { id: "x", toolName: "write", decision: "allow", pattern: { every: true }, createdAt: 1 },
    );
    expect(await scene({ rules }).write({ path: "src/a" })).toBeDefined();
    const failing = { ...rules, list: () => Promise.reject(new Error("gone")) };
    expect(await scene({ rules: failing }).write({ path: "src/a" })).toBeDefined();
  });

  it("is refused beyond 100 of one session, and one about the same calls takes the place of the first", async () => {
    const made = scene();
    for (let at = 0; at < 100; at++) await allow(made, await made.write({ path: `p${at}` }), { args: { path: { equals: `p${at}` } } });
    const callKey = await made.write({ path: "more" });
    const refusal = made.session.decide(callKey ?? "", { decision: "allow", remember: { args: { path: { equals: "more" } } } });
    await expect(refusal).rejects.toMatchObject({ code: "INPUT_INVALID", message: expect.stringContaining("100 decisions") });
    await allow(made, callKey);
    expect(made.session.snapshot().remembered).toHaveLength(100);
  });

  it("whose pattern does not cover the call, or is none, is refused by the memory", () => {
    const { memory } = createApprovals();
    const call = { toolName: "write", args: { path: "src/a" } };
    expect(memory.patternFor(call)).toEqual({ args: { path: { equals: "src/a" } } });
    expect(memory.patternFor(call, inSrc)).toEqual(inSrc);
    for (const asked of [{ args: { path: { below: "etc/" } } }, { args: {} }, { tools: "*" }])
      expect(() => memory.patternFor(call, asked)).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });
});

describe("the policy of a deployment", () => {
  it.each<[string, ApprovalPolicy, boolean]>([
    ["never settles what the tool asks", { write: "never" }, false],
    ["unless a pattern fits, asks", { write: { unless: [{ args: { path: { below: "etc/" } } }] } }, true],
    ["a pattern that fits settles it", { write: { unless: [inSrc] } }, false],
    ["a function that asks nothing leaves it to the tool", { write: () => false }, true],
    ["a tool without an entry asks as it is made", { other: "never" }, true],
  ])("%s", async (_, policy, asks) => {
    expect((await scene({ policy }).write({ path: "src/a" })) !== undefined).toBe(asks);
  });

  it("asks about a tool that asks nothing by itself: always, by its arguments, or by a function; and denies", async () => {
    const quiet = (policy: ApprovalPolicy): Scene => scene({ policy, approval: false });
    expect(await quiet({}).write({ path: "src/a" })).toBeUndefined();
    expect(await quiet({ write: "always" }).write({ path: "src/a" })).toBeDefined();
    const big = ({ call }: { call: { args: JsonObject } }): boolean => Number(call.args["size"] ?? 0) > 10;
    expect(await quiet({ write: big }).write({ size: 11 })).toBeDefined();
    expect(await quiet({ write: big }).write({ size: 10 })).toBeUndefined();
    const made = quiet({ write: () => ({ action: "deny", reason: "not here" }) });
    expect(await made.write({ path: "src/a" })).toBeUndefined();
    expect(made.results().at(-1)).toContain("Denied: not here");
  });

  it("is refused where one of its patterns is none", () => {
    const policy = { write: { unless: [{ args: { path: { below: "src" } } }] } };
    expect(() => createApprovals({ policy })).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });
});
