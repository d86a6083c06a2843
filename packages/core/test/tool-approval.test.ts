import { describe, expect, it } from "vitest";
import { type AgentEvent, createAgent, createSession, defineTools, execute, type GateVerdict, type Hooks } from "../src/index.ts";
import { memoryStore, scripted } from "../src/memory/index.ts";
import { eventsOf } from "./harness.ts";

interface Resources {
  readonly limit: number;
}

type Approval = (args: { readonly euros: number }, context: { readonly resources: Resources }) => GateVerdict | boolean | Promise<boolean>;

const euros = { type: "object", properties: { euros: { type: "number" } }, required: ["euros"] } as const;

/** A session whose model calls `pay` once, then answers with the text of the result. */
function paying(approval: true | string | Approval, more: { readonly hooks?: readonly Hooks[]; readonly euros?: number } = {}) {
  const paid: number[] = [];
  const defineTool = defineTools<Resources>();
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    parameters: euros,
    approval: approval as true,
    execute: (args) => void paid.push(Number(args["euros"])),
  });
  const provider = scripted([{ calls: [{ name: "pay", args: { euros: more.euros ?? 70 } }] }, { text: "Done." }]);
  const agent = createAgent({ name: "payer", provider, tools: [pay], resources: { limit: 50 }, hooks: more.hooks ?? [] });
  const store = memoryStore();
  const open = () => createSession({ agent, store, id: "s1" });
  return { paid, session: open(), open };
}

describe("a tool's own approval", () => {
  it("asks a person before each call, with its reason", async () => {
    const { session, paid } = paying("Money leaves the account.");
    const result = await execute(session, "Pay.").result();
    expect(result.pendingApprovals).toMatchObject([{ toolName: "pay", reason: "Money leaves the account.", args: { euros: 70 } }]);
    expect(paid).toEqual([]);
    await (await session.decide(result.pendingApprovals?.[0]?.callKey ?? "", { decision: "allow" })).stream().result();
    expect(paid).toEqual([70]);
  });

  it("may be plain `true`", async () => {
    const { session } = paying(true);
    const [asked] = (await execute(session, "Pay.").result()).pendingApprovals ?? [];
    expect([asked?.toolName, asked?.reason]).toEqual(["pay", undefined]);
  });

  it.each([
    [70, 1, []],
    [20, 0, [20]],
  ])("is decided for each call by a function of its arguments and resources: %i euros", async (euros, asked, ran) => {
    const { session, paid } = paying((args, { resources }) => Promise.resolve(args.euros > resources.limit), { euros });
    const result = await execute(session, "Pay.").result();
    expect([result.pendingApprovals?.length ?? 0, paid]).toEqual([asked, ran]);
  });

  it("may give a verdict: a denial, or an edit that the gates see", async () => {
    const denied = paying(() => ({ action: "deny", reason: "not today" }));
    await execute(denied.session, "Pay.").result();
    expect([denied.paid, JSON.stringify(denied.session.messages)]).toEqual([[], expect.stringContaining("not today")]);
    const seen: unknown[] = [];
    const hooks = [{ name: "look", gate: ({ call }: { call: { args: unknown } }) => void seen.push(call.args) }];
    const edited = paying(() => ({ action: "edit", args: { euros: 5 } }), { hooks });
    await execute(edited.session, "Pay.").result();
    expect([edited.paid, seen]).toEqual([[5], [{ euros: 5 }]]);
  });

  it("cannot be allowed away by a gate, and a gate's denial decides over it", async () => {
    const allowing = paying(true, { hooks: [{ name: "gate", gate: () => ({ action: "allow" }) }] });
    expect((await execute(allowing.session, "Pay.").result()).pendingApprovals).toHaveLength(1);
    const denying = paying(true, { hooks: [{ name: "gate", gate: () => ({ action: "deny", reason: "never" }) }] });
    expect((await execute(denying.session, "Pay.").result()).status).toBe("completed");
    expect(denying.paid).toEqual([]);
  });

  it("that throws fails the call, and the tool does not run", async () => {
    const { session, paid } = paying(() => {
      throw new Error("broken");
    });
    expect((await execute(session, "Pay.").result()).status).toBe("completed");
    expect(paid).toEqual([]);
    expect(JSON.stringify(session.messages)).toContain("HOOK_FAILED");
  });
});

describe("the stream of a decision or an answer", () => {
  it("begins with the decision, and misses nothing of the run however late it is asked for", async () => {
    const { session } = paying(true);
    const [asked] = (await execute(session, "Pay.").result()).pendingApprovals ?? [];
    const decided = await session.decide(asked?.callKey ?? "", { decision: "allow" });
    const early = eventsOf(decided.stream());
    const events = await early;
    const late = await eventsOf(decided.stream());
    const durable = (all: readonly AgentEvent[]) => all.filter((event) => "seq" in event).map(({ type }) => type);
    expect(durable(events)[0]).toBe("approval_decided");
    expect(durable(events)).toContain("tool_execution_end");
    expect(durable(events).at(-1)).toBe("run_end");
    expect(durable(late)).toEqual(durable(events));
    const [one, other] = [await decided.stream().result(), await decided.stream().result()];
    expect([one.status, one.text, one.messages.length]).toEqual(["completed", "Done.", 2]);
    expect(other).toEqual(one);
  });

  it("of an answer ends when the run does, also through another handle", async () => {
    const pick = { name: "pick", description: "Picks.", parameters: { type: "object" } };
    const provider = scripted([{ calls: [{ name: "pick" }] }, { text: "Blue it is." }]);
    const agent = createAgent({ name: "painter", provider, tools: [pick] });
    const store = memoryStore();
    const session = createSession({ agent, store, id: "s1" });
    const [call] = (await execute(session, "Paint.").result()).pendingToolCalls ?? [];
    const other = createSession({ agent, store, id: "s1" });
    const answered = await other.answer(call?.callKey ?? "", { colour: "blue" });
    expect(answered).toMatchObject({ replayed: false, runId: session.runId });
    const result = await answered.stream().result();
    expect([result.status, result.text, result.messages.map(({ role }) => role)]).toEqual([
      "completed",
      "Blue it is.",
      ["tool_result", "assistant"],
    ]);
    expect((await other.answer(call?.callKey ?? "", { colour: "blue" })).replayed).toBe(true);
    await expect(other.answer(call?.callKey ?? "", { colour: "red" })).rejects.toMatchObject({ code: "CALL_ANSWERED" });
    await expect(other.answer("nothing.1.0", "x")).rejects.toMatchObject({ code: "CALL_UNKNOWN" });
    await expect(other.answer(call?.callKey ?? "", () => {})).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("of an answer may report that the call failed", async () => {
    const pick = { name: "pick", description: "Picks.", parameters: { type: "object" } };
    const provider = scripted([{ calls: [{ name: "pick" }, { name: "pick" }] }, { text: "Then not." }]);
    const session = createSession({ agent: createAgent({ name: "painter", provider, tools: [pick] }) });
    const calls = (await execute(session, "Paint.").result()).pendingToolCalls ?? [];
    const first = await session.answer(calls[0]?.callKey ?? "", "no colour", { isError: true });
    expect(await first.stream().result()).toMatchObject({
      status: "awaiting_tool_execution",
      pendingToolCalls: [{ callKey: calls[1]?.callKey }],
    });
    const result = await (await session.answer(calls[1]?.callKey ?? "", "red")).stream().result();
    expect(result.text).toBe("Then not.");
    expect(session.messages.filter((message) => message.role === "tool_result").map(({ isError }) => isError ?? false)).toEqual([
      true,
      false,
    ]);
  });
});
