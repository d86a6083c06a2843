import {
  type AgentError,
  createAgent,
  createSession,
  defineTool,
  execute,
  type GateContext,
  type Hooks,
  type JsonObject,
  resume,
  type SessionStore,
  type Tool,
} from "@loopwright/core";
import { manualClock, memoryStore, scripted, seededRandom } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { type ApprovalPolicy, backtestApprovals, createApprovals, inMemoryRules, parseApprovalPolicy } from "../src/index.ts";

const scope = "team";
const parameters = { type: "object", properties: { path: { type: "string" } } } as const;
const tool = (name: string, approval?: Tool["approval"]): Tool =>
  defineTool({
    name,
    description: `Does ${name}.`,
    parameters,
    execute: () => "done",
    ...(approval === undefined ? {} : { approval }),
  }) as Tool;
const tools = [tool("read"), tool("write", true), tool("remove", ({ path }: { path?: string }) => path !== "drafts/a"), tool("send")];
const below = { unless: [{ args: { path: { below: "drafts/" } } }] };

/** What held, and what is tried on the sessions in which it held. */
const held: ApprovalPolicy = { write: below, send: "always" };
const tried: ApprovalPolicy = {
  read: "always",
  write: "never",
  remove: below,
  send: ({ call, isAsked, access }) => (call.args["path"] === "src/c" ? { action: "deny", reason: `Not for ${access.user}.` } : !isAsked),
};

/** Another gate, whose verdicts both policies meet. */
const house: Hooks = {
  name: "house",
  gate({ call }) {
    const { path } = call.args;
    if (call.name === "read" && path === "src/c") return { action: "deny", reason: "Closed." };
    if (call.name === "read" && path === "drafts/b") return { action: "ask" };
    return call.name === "write" && path === "src/d" ? { action: "edit", args: { path: "drafts/d" } } : undefined;
  },
};

interface Live {
  readonly store: SessionStore;
  readonly rules: ReturnType<typeof inMemoryRules>;
  /** `<session> <call> <verdict>` of each call by the policy that held, and by the one that is tried, asked in its place without effect. */
  readonly byHeld: readonly string[];
  readonly byTried: readonly string[];
  readonly decisions: ReadonlyMap<string, string>;
}

/** Sessions by chance, in which people decide, and have some of their decisions remembered. */
async function played(count: number, seed: number): Promise<Live> {
  const random = seededRandom(seed);
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const store = memoryStore();
  const rules = inMemoryRules();
  const [byHeld, byTried] = [[] as string[], [] as string[]];
  const clock = manualClock();
  const real = createApprovals({ rules, policy: held, clock });
  const patternOf = (args: JsonObject): JsonObject => real.memory.patternFor({ toolName: "", args }, undefined);
  const shadow = createApprovals({ rules, policy: tried });
  const decisions = new Map<string, string>();
  const noted = (list: string[], context: GateContext, action: string | undefined): void => {
    const asked = context.isAsked ? "ask" : "allow";
    const verdict = action === undefined || action === "edit" ? asked : action === "approve" ? "allow" : action;
    list.push(`${context.sessionId} ${context.call.callKey} ${verdict}`);
  };
  const watched: Hooks = {
    name: "approvals",
    async gate(context) {
      noted(byTried, context, (await shadow.hooks.gate?.(context))?.action);
      const verdict = await real.hooks.gate?.(context);
      noted(byHeld, context, verdict?.action);
      return verdict ?? undefined;
    },
  };
  const call = () => ({ name: oneOf(tools).name, args: { path: oneOf(["drafts/a", "drafts/b", "src/c", "src/d"]) } });
  const provider = scripted(({ messages }) =>
    messages.at(-1)?.role === "user" || random() < 0.4 ? { calls: [call(), call()] } : { text: "Done." },
  );
  const agent = createAgent({ name: "desk", provider, tools, hooks: [house, watched], limits: { turnsMax: 4 } });
  for (let at = 0; at < count; at++) {
    const session = createSession({ agent, store, clock, id: `s${at}`, access: { scope, user: oneOf(["anne", "ben"]) } });
    let result = await execute(session, "Tidy up.").result();
    while (result.pendingApprovals?.length) {
      for (const { callKey, toolName, args } of result.pendingApprovals) {
        const decision = oneOf(["allow", "deny"] as const);
        decisions.set(callKey, decision);
        const remember = random() < 0.2 ? patternOf(args) : undefined;
        await session.decide(callKey, { decision, ...(remember ? { remember } : {}) });
        // A rule that is made again loses the date of the first one.
        const isNew = (await rules.list({ user: "anne", scope }, toolName)).every(
          ({ pattern }) => JSON.stringify(pattern) !== JSON.stringify(patternOf(args)),
        );
        if (isNew && random() < 0.05) {
          clock.advance(1);
          await real.memory.remember({ user: "anne", scope }, { toolName, decision, pattern: patternOf(args) });
          clock.advance(1);
        }
      }
      result = await resume(session).result();
    }
  }
  return { store, rules, byHeld, byTried, decisions };
}

const rounds = Number(process.env["LOOPWRIGHT_APPROVAL_SESSIONS"] ?? 40);

it(`gives on ${rounds} stored sessions the verdicts that the same policy gave on them live, and another policy would have given`, async () => {
  const { store, rules, byHeld, byTried, decisions } = await played(rounds, 5);
  const verdicts = new Set<string>();
  for (const [policy, live] of [
    [held, byHeld],
    [tried, byTried],
  ] as const) {
    const report = await backtestApprovals({ store, scope, policy, rules });
    expect([report.sessions, report.unreadable]).toEqual([rounds, []]);
    const others = report.calls.filter(
      ({ verdict, recorded, toolName, reason }) => toolName === "read" && verdict === "deny" && recorded === "deny" && reason === undefined,
    );
    const judged = report.calls.filter((each) => !others.includes(each));
    expect(judged.map(({ session, callKey, verdict }) => `${session} ${callKey} ${verdict}`).sort()).toEqual([...live].sort());
    for (const { verdict } of judged) verdicts.add(verdict);
    // What the other gate denied, no policy was asked about.
    expect(others.length).toBeGreaterThan(0);
    for (const { callKey, decision } of report.calls) expect(decision).toBe(decisions.get(callKey));
    if (policy === held) expect(report.calls.filter(({ verdict, recorded }) => verdict !== recorded)).toEqual([]);
    else expect(report.calls.filter(({ verdict, recorded }) => verdict !== recorded).length).toBeGreaterThan(rounds / 4);
  }
  expect(verdicts).toEqual(new Set(["allow", "ask", "deny"]));
  expect(decisions.size).toBeGreaterThan(rounds / 2);
});

it("looks at the newest sessions only, and a policy that fails makes a session unreadable, not the report", async () => {
  const { store } = await played(5, 3);
  expect((await backtestApprovals({ store, scope, policy: held, sessionsMax: 2 })).sessions).toBe(2);
  const broken: ApprovalPolicy = Object.fromEntries(
    tools.map(({ name }) => [
      name,
      () => {
        throw new Error("It broke.");
      },
    ]),
  );
  const report = await backtestApprovals({ store, scope, policy: broken });
  expect(report.sessions).toBe(5);
  expect(report.unreadable).toHaveLength(5);
  expect(report.unreadable[0]).toEqual({ session: "s4", why: "It broke." });
});

it("reads a policy from JSON, and names what is wrong in it", async () => {
  const policy = { read: "never", write: { unless: [{ args: { path: { below: "drafts/" } } }], timeoutMs: 60_000, reason: "It stays." } };
  expect(parseApprovalPolicy(JSON.stringify(policy), "policy.json")).toEqual(policy);
  for (const [text, why] of [
    ["{", /it is no JSON/],
    ["[]", /no object/],
    ['{"send": "sometimes"}', /the entry of `send` is not/],
    ['{"send": {"unless": {}}}', /`unless` of `send` is no list/],
    ['{"send": {"unless": [], "until": 1}}', /a member `until`/],
    ['{"send": {"unless": [], "timeoutMs": 0}}', /`timeoutMs` of `send` is not positive/],
  ] as const) {
    let refused: unknown;
    try {
      parseApprovalPolicy(text, "policy.json");
    } catch (error) {
      refused = error;
    }
    expect([(refused as AgentError).code, (refused as AgentError).message]).toEqual(["CONFIG_INVALID", expect.stringMatching(why)]);
  }
});
