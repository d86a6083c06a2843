import { describe, expect, it } from "vitest";
import { agentTool, createAgent, defineTool, execute, type FilterContext, type Hooks, hookCounts, type Tool } from "../src/index.ts";
import { scripted } from "../src/memory/index.ts";
import { eventsOf, ofType, world } from "./harness.ts";

const act = defineTool({ name: "act", description: "Acts.", parameters: { type: "object" }, execute: () => "done" });
const hooked = (script: readonly object[], hooks: Partial<Hooks>, tools: readonly Tool[] = [act]) =>
  world(script as never, { tools, hooks: [{ name: "guard", ...hooks }] });
const verdictsOf = (facts: readonly object[]): readonly unknown[] =>
  facts.flatMap((fact) => ("verdicts" in fact ? fact.verdicts : []) as never[]);

describe("a verdict that a hook notes beside the one that it returns", () => {
  it("is recorded with the fact at every point, once for an action and a reason, published and counted", async () => {
    const { session, facts } = hooked([{ calls: [{ name: "act" }] }, { text: "ok" }], {
      accept: ({ note }) => note("seen", "accept"),
      run: { start: ({ note }) => note("seen", "start") },
      prepare: ({ note }) => note("seen", "prepare"),
      decide({ note }) {
        note("seen", "decide");
        note("seen", "decide");
        note("would_redact");
      },
      gate({ note }) {
        note("seen", "gate");
        return { action: "allow" };
      },
      review: ({ note }) => note("seen", "review"),
    });
    const events = await eventsOf(execute(session, "go"));
    const key = ofType(events, "tool_execution_start")[0]?.callKey;
    const ofTurn = [
      { hook: "guard", point: "decide", action: "seen", reason: "decide" },
      { hook: "guard", point: "decide", action: "would_redact" },
    ];
    const expected = [
      { hook: "guard", point: "accept", action: "seen", reason: "accept" },
      { hook: "guard", point: "run", action: "seen", reason: "start" },
      { hook: "guard", point: "prepare", action: "seen", reason: "prepare" },
      ...ofTurn,
      { hook: "guard", point: "gate", action: "seen", reason: "gate", callKey: key },
      { hook: "guard", point: "review", action: "seen", reason: "review", callKey: key },
      { hook: "guard", point: "prepare", action: "seen", reason: "prepare" },
      ...ofTurn,
    ];
    expect(verdictsOf(await facts())).toEqual(expected);
    expect(ofType(events, "verdict")).toHaveLength(expected.length);
  });

  it("is counted for the process", async () => {
    const hooks: Hooks[] = [{ name: "guard", decide: ({ note }) => note("seen") }];
    const { session, agent } = world([{ text: "ok" }], { hooks });
    await execute(session, "go").result();
    expect(hookCounts(agent).get("guard/decide/seen")).toBe(1);
  });

  it("fails the hook where it is no word, or means that nothing changed", async () => {
    for (const action of ["", "allow", "unchanged", "x".repeat(65)]) {
      const { session } = hooked([{ text: "ok" }], { decide: ({ note }) => note(action) });
      expect((await execute(session, "go").result()).status).toBe("error");
    }
  });
});

describe("a filter", () => {
  it("knows the tool of arguments, output and progress, and the key of the call for the latter two", async () => {
    const seen: Pick<FilterContext, "kind" | "tool" | "callKey">[] = [];
    const filter = {
      apply(text: string, { kind, tool, callKey }: FilterContext) {
        if (text === "x") seen.push({ kind, ...(tool ? { tool } : {}), ...(callKey ? { callKey: "key" } : {}) });
        return text;
      },
    };
    const tool = defineTool({
      ...act,
      execute(_, { progress }) {
        progress("x").end();
        return "x";
      },
    });
    const { session } = hooked([{ text: "x", calls: [{ name: "act", args: { a: "x" } }] }, { text: "ok" }], { filter }, [tool]);
    await execute(session, "go").result();
    expect(new Set(seen.map((one) => JSON.stringify(one)))).toEqual(
      new Set(
        [
          { kind: "text" },
          { kind: "arguments", tool: "act" },
          { kind: "progress", tool: "act", callKey: "key" },
          { kind: "tool", tool: "act", callKey: "key" },
        ].map((one) => JSON.stringify(one)),
      ),
    );
  });

  it("whose `holdBack` looks at the text shows words at once, and holds back what may be the beginning of a match", async () => {
    const holdBack = (text: string): number => (text.includes("<") ? text.length - text.indexOf("<") : 0);
    const filter = { holdBack, apply: (text: string) => text.replace(/<[^>]*>/g, "[]") };
    const { session } = world([{ text: "one two <secret and long> three" }], { hooks: [{ name: "guard", filter }] });
    const deltas = ofType(await eventsOf(execute(session, "go")), "text_delta").map(({ delta }) => delta);
    expect(deltas.slice(0, 2)).toEqual(["one ", "two "]);
    expect(deltas.join("")).toBe("one two [] three");
  });

  it("whose `holdBack` throws, or gives no count, fails the model call, and nothing is shown", async () => {
    for (const holdBack of [() => Number.NaN, () => -1, () => JSON.parse("{")]) {
      const { session } = world([{ text: "secret" }], { hooks: [{ name: "guard", filter: { holdBack, apply: (text) => text } }] });
      const events = await eventsOf(execute(session, "go"));
      expect(ofType(events, "text_delta")).toEqual([]);
      expect(ofType(events, "error")[0]).toMatchObject({ code: "HOOK_FAILED" });
    }
  });
});

describe("M09: a set of hooks that is inherited", () => {
  it("is asked in the runs of children and of theirs, once in each, and others are not", async () => {
    const asked: string[] = [];
    const set = (name: string, isInherited: boolean): Hooks => ({
      name,
      isInherited,
      prepare: ({ agent }) => void asked.push(`${name} ${agent}`),
    });
    const task = { args: { task: "go" } };
    const last = createAgent({ name: "last", provider: scripted([{ text: "ok" }]) });
    const middle = createAgent({
      ...{ name: "middle", provider: scripted([{ calls: [{ name: "last", ...task }] }, { text: "ok" }]) },
      ...{ tools: [agentTool({ agent: last })], hooks: [set("guard", true)] },
    });
    const { session } = world([{ calls: [{ name: "middle", ...task }] }, { text: "ok" }], {
      ...{ tools: [agentTool({ agent: middle })], hooks: [set("guard", true), set("own", false)] },
    });
    await execute(session, "go").result();
    expect(asked.filter((one) => one.startsWith("guard")).map((one) => one.split(" ")[1])).toHaveLength(5);
    expect(asked).toContain("guard last");
    expect(asked.filter((one) => one.startsWith("own"))).toHaveLength(2);
  });
});
