import { describe, expect, it } from "vitest";
import { createAgent, defineTool, execute, type Hooks, type Message, resume, type Tool } from "../src/index.ts";
import { scripted } from "../src/memory/index.ts";
import { eventsOf, ofType, world } from "./harness.ts";

const ran: unknown[] = [];
const tool = defineTool({
  name: "act",
  description: "Acts.",
  parameters: { type: "object" },
  execute: (args) => {
    ran.push(args);
    return "secret 1234 found";
  },
});
const calls = [{ name: "act", args: { a: 1 } }];
const withHooks = (script: readonly object[], ...hooks: readonly Hooks[]) => world(script as never, { tools: [tool], hooks });

describe("the hook prepare", () => {
  it("may change the model, the prompt, the tools and the notices of one call", async () => {
    const { session, provider } = withHooks([{ text: "one" }], {
      name: "prepare",
      prepare: ({ turn }) => ({
        model: `m${turn}`,
        system: "changed",
        tools: [],
        notices: ["Mind the gap."],
      }),
    });
    await execute(session, "x").result();
    expect(provider.requests[0]).toMatchObject({ model: "m1", system: [{ text: "changed", source: "hook", cache: "session" }] });
    expect(provider.requests[0]?.tools).toBeUndefined();
    expect(provider.requests[0]?.messages.at(-1)).toEqual({ role: "notice", text: "Mind the gap." });
  });

  it("fails the run when it throws, without a request", async () => {
    const { session, provider } = withHooks([], {
      name: "prepare",
      prepare: () => {
        throw new Error("no");
      },
    });
    expect(await execute(session, "x").result()).toMatchObject({ status: "error" });
    expect(provider.requests).toHaveLength(0);
  });
});

describe("the messages that user code is given", () => {
  const length = ({ messages }: { readonly messages: readonly unknown[] }): number => messages.length;
  const rolesIn = (lists: readonly (readonly Message[])[]): readonly (readonly string[])[] =>
    lists.map((messages) => messages.map(({ role }) => role));

  it("stay as they were when `prepare` was called, while the app reads the session and the run continues", async () => {
    const kept: (readonly Message[])[] = [];
    const seen: number[] = [];
    const { session } = withHooks([{ calls }, { text: "ok" }], {
      name: "prepare",
      prepare: ({ messages }) => {
        kept.push(messages);
        seen.push(messages.length);
        length(session);
        seen.push(messages.length);
        return undefined;
      },
    });
    await execute(session, "x").result();
    expect(seen).toEqual([1, 1, 3, 3]);
    expect(rolesIn(kept)).toEqual([["user"], ["user", "assistant", "tool_result"]]);
  });

  it("are the same for the prompt and for `prepare` of one call, also where the prompt takes its time", async () => {
    const seen: (readonly Message[])[] = [];
    const { session } = world([{ text: "one" }], {
      prompt: async ({ messages }) => {
        seen.push(messages);
        await Promise.resolve();
        length(session);
        return "Be brief.";
      },
      hooks: [{ name: "prepare", prepare: ({ messages }) => void seen.push(messages) }],
    });
    await execute(session, "x").result();
    expect(length(session)).toBe(2);
    expect(rolesIn(seen)).toEqual([["user"], ["user"]]);
    expect(seen[0]).toBe(seen[1]);
  });

  it("stay as they were when `decide` was asked", async () => {
    const kept: (readonly Message[])[] = [];
    const { session } = withHooks([{ calls }, { text: "ok" }], { name: "decide", decide: ({ messages }) => void kept.push(messages) });
    await execute(session, "x").result();
    expect(length(session)).toBe(4);
    expect(rolesIn(kept)).toEqual([["user"], ["user", "assistant", "tool_result"]]);
  });

  it("cannot be changed by a hook: the conversation and the other hooks have them as they are", async () => {
    const { session, provider } = withHooks(
      [{ text: "ok" }],
      {
        name: "prepare",
        prepare: ({ messages }) => {
          expect(() => (messages as Message[]).pop()).toThrow(TypeError);
          return undefined;
        },
      },
      { name: "next", prepare: ({ messages }) => ({ notices: [`${messages.length} message`] }) },
    );
    await execute(session, "x").result();
    expect(provider.requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "notice"]);
    expect(JSON.stringify(provider.requests[0]?.messages)).toContain("1 message");
    expect(session.messages[0]).toEqual({ role: "user", content: "x" });
  });
});

describe("the hook gate", () => {
  it("denies a call with a reason that the model sees", async () => {
    ran.length = 0;
    const { session, provider } = withHooks([{ calls }, { text: "ok" }], {
      name: "gate",
      gate: ({ call }) => ({ action: "deny", reason: `not ${call.name}` }),
    });
    const events = await eventsOf(execute(session, "x"));
    expect(ran).toEqual([]);
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain("Denied: not act");
    expect(ofType(events, "tool_execution_start")).toEqual([]);
  });

  it("edits the arguments; the events show the arguments that the tool ran with", async () => {
    ran.length = 0;
    const { session } = withHooks(
      [{ calls }, { text: "ok" }],
      { name: "gate", gate: () => ({ action: "edit", args: { a: 2 } }) },
      { name: "next", gate: ({ call }) => ({ action: "edit", args: { ...call.args, b: 3 } }) },
    );
    const events = await eventsOf(execute(session, "x"));
    expect(ran).toEqual([{ a: 2, b: 3 }]);
    expect(ofType(events, "tool_execution_start")[0]?.args).toEqual({ a: 2, b: 3 });
  });
});

describe("the hook review", () => {
  it("replaces what the model sees, before it is stored", async () => {
    const { session, provider, facts } = withHooks([{ calls }, { text: "ok" }], {
      name: "review",
      review: ({ output }) => ({ output: output.replace(/\d+/, "****") }),
    });
    await execute(session, "x").result();
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain("secret **** found");
    expect(JSON.stringify(await facts())).not.toContain("1234");
  });

  it("that throws fails the call, and nothing unchecked is shown", async () => {
    const { session, facts } = withHooks([{ calls }, { text: "ok" }], {
      name: "review",
      review: () => {
        throw new Error("no");
      },
    });
    expect((await execute(session, "x").result()).status).toBe("completed");
    expect(JSON.stringify(await facts())).not.toContain("1234");
  });
});

describe("the hook decide", () => {
  it("nudges once more, forces a tool, or stops before the calls run", async () => {
    ran.length = 0;
    const nudged = withHooks([{ text: "half" }, { text: "whole" }], {
      name: "decide",
      decide: ({ turn }) => (turn === 1 ? { action: "nudge", notice: "Go on." } : undefined),
    });
    expect((await execute(nudged.session, "x").result()).text).toBe("whole");
    expect(nudged.provider.requests[1]?.messages.at(-1)).toEqual({ role: "notice", text: "Go on." });
    const forced = withHooks([{ calls }, { text: "ok" }, { text: "never" }], {
      name: "decide",
      decide: ({ turn }) => (turn === 1 ? { action: "force", tool: "act" } : undefined),
    });
    await execute(forced.session, "x").result();
    expect(forced.provider.requests.map(({ toolChoice }) => toolChoice)).toEqual([undefined, { tool: "act" }]);
    const count = ran.length;
    const stopped = withHooks([{ text: "no more", calls }], { name: "decide", decide: () => ({ action: "stop" }) });
    expect(await execute(stopped.session, "x").result()).toMatchObject({ status: "completed", text: "no more" });
    expect(ran).toHaveLength(count);
  });
});

describe("the hook filter", () => {
  it("changes streamed text, the message and tool output alike, also where a pattern spans deltas", async () => {
    const filter: Hooks = { name: "filter", filter: { holdBack: 10, apply: (text) => text.replaceAll("1234", "####") } };
    const { session, facts } = withHooks([{ text: "the code 1234 is it", chunkSize: 1, calls }, { text: "1234" }], filter);
    const events = await eventsOf(execute(session, "x"));
    const streamed = ofType(events, "text_delta")
      .map(({ delta }) => delta)
      .join("");
    expect(streamed).toBe("the code #### is it####");
    expect(JSON.stringify([events, await facts()])).not.toContain("1234");
  });
});

describe("the hook filter, where the next block begins", () => {
  it("shows what it held back before that block, so that no delta comes after its end", async () => {
    const filter: Hooks = { name: "filter", filter: { holdBack: 10, apply: (text) => text } };
    const { session } = withHooks(
      [{ thinking: "let me think about it", text: "the answer to all", chunkSize: 3, calls }, { text: "ok" }],
      filter,
    );
    const published = (await eventsOf(execute(session, "x"))).map(({ type }) => type);
    expect(published.lastIndexOf("thinking_delta")).toBeLessThan(published.indexOf("thinking_end"));
    expect(published.indexOf("thinking_end")).toBeLessThan(published.indexOf("text_start"));
    expect(published.slice(published.indexOf("text_end"), published.indexOf("turn_end"))).not.toContain("text_delta");
    expect(published).not.toContain("message_snapshot");
  });
});

describe("a point without a hook", () => {
  it("is not asked, and an agent without hooks works", async () => {
    const { session, agent } = withHooks([{ calls }, { text: "ok" }], { name: "none" });
    expect((await execute(session, "x").result()).text).toBe("ok");
    expect(agent.hooks).toHaveLength(1);
    expect(() => createAgent({ name: "", provider: agent.provider })).toThrow(/name is not usable/);
    expect(() => createAgent({ name: "x", provider: {} as never })).toThrow(/`provider` is missing/);
    expect(() => createAgent({ name: "x", provider: agent.provider, tools: [tool, tool] })).toThrow(/two tools are named/);
    expect(() => createAgent({ name: "x", provider: agent.provider, limits: { turnsMax: 0 } })).toThrow(/limits.turnsMax/);
  });
});

describe("a tool that the hook prepare leaves out", () => {
  it("does not run when the model calls it all the same, and the model reads which tools exist", async () => {
    ran.length = 0;
    const { session, provider, facts } = withHooks([{ calls }, { text: "ok" }], { name: "prepare", prepare: () => ({ tools: [] }) });
    const events = await eventsOf(execute(session, "x"));
    expect(ran).toEqual([]);
    expect(ofType(events, "tool_execution_start")).toEqual([]);
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain("TOOL_UNKNOWN: There is no tool `act`. There are no tools.");
    const started = (await facts()).filter((fact) => fact.type === "model.started");
    expect(started.map(({ tools }) => tools)).toEqual([{}, {}]);
  });

  it("is not forced upon the model by the hook decide", async () => {
    const other = defineTool({ ...tool, name: "other" });
    const hooks: Hooks = {
      name: "prepare",
      prepare: () => ({ tools: [other] }),
      decide: ({ turn }) => (turn === 1 ? { action: "force", tool: "act" } : undefined),
    };
    const { session, provider } = withHooks([{ text: "no" }, { text: "still no" }], hooks);
    await execute(session, "x").result();
    expect(provider.requests.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([["other"], ["other"]]);
    expect(provider.requests.map(({ toolChoice }) => toolChoice)).toEqual([undefined, undefined]);
  });

  it("is not requested for a tool that runs at the caller", async () => {
    const pick = defineTool({ name: "pick", description: "Asks.", parameters: { type: "object" } });
    const { session } = world([{ calls: [{ name: "pick" }] }, { text: "ok" }], {
      tools: [pick],
      hooks: [{ name: "prepare", prepare: () => ({ tools: [tool] }) }],
    });
    expect((await execute(session, "x").result()).status).toBe("completed");
  });

  it("is not called by a model that cannot be shown tools", async () => {
    ran.length = 0;
    const provider = scripted([{ calls }, { text: "ok" }], { capabilities: { tools: false } });
    const { session } = world([], { provider, tools: [tool] });
    await execute(session, "x").result();
    expect(ran).toEqual([]);
  });
});

describe("a tool that the hook prepare adds", () => {
  const added = (execute: () => string, more: Partial<Tool> = {}): Tool =>
    defineTool({ name: "extra", description: "Is extra.", parameters: { type: "object" }, execute, ...more });
  const addsIt = (extra: Tool): Hooks => ({ name: "prepare", prepare: ({ tools }) => ({ tools: [...tools, extra] }) });

  it("runs with its own policy, and the fact of the model call has that policy", async () => {
    const extra = added(() => "from the extra", { replay: "pure", counts: false });
    const { session, provider, facts } = withHooks([{ calls: [{ name: "extra" }] }, { text: "ok" }], addsIt(extra));
    await execute(session, "x").result();
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain("from the extra");
    const [started] = (await facts()).flatMap((fact) => (fact.type === "model.started" ? [fact] : []));
    expect(started?.tools).toMatchObject({ act: { replay: "once" }, extra: { home: "server", replay: "pure", counts: false } });
    expect((await facts()).find(({ type }) => type === "tool.started")).toMatchObject({ replay: "pure" });
  });

  it("takes the place of the agent's tool of that name", async () => {
    ran.length = 0;
    const other = defineTool({ ...tool, execute: () => "from the other" });
    const { session, provider } = withHooks([{ calls }, { text: "ok" }], { name: "prepare", prepare: () => ({ tools: [other] }) });
    await execute(session, "x").result();
    expect(ran).toEqual([]);
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain("from the other");
  });

  it("runs on the node that takes over, which routes by the fact and asks the hook for the tool again", async () => {
    const asks: Hooks = { ...addsIt(added(() => "after the move")), gate: () => ({ action: "ask" }) };
    const { session, again } = withHooks([{ calls: [{ name: "extra" }, { name: "act" }] }, { text: "ok" }], asks);
    const first = await execute(session, "x").result();
    expect(first.pendingApprovals).toHaveLength(2);
    await session[Symbol.asyncDispose]();
    const next = again();
    await next.ready();
    for (const { callKey } of next.pendingApprovals) await next.decide(callKey, { decision: "allow" });
    const result = await resume(next).result();
    expect(JSON.stringify(result.messages)).toContain("after the move");
    expect(result.status).toBe("completed");
  });

  it("keeps the place of the agent's tool on the node that takes over, though name and policy are the same", async () => {
    ran.length = 0;
    const asked: unknown[] = [];
    const other = defineTool({ ...tool, execute: () => "from the other" });
    const replaces: Hooks = {
      name: "prepare",
      prepare({ turn, attempt, system, messages }) {
        if (turn === 1) asked.push({ attempt, system, messages });
        return messages.at(-1)?.role === "user" ? { tools: [other] } : undefined;
      },
      gate: () => ({ action: "ask" }),
    };
    const { session, again } = world([{ calls }, { text: "ok" }], { tools: [tool], prompt: () => "Be brief.", hooks: [replaces] });
    await execute(session, "x").result();
    await session[Symbol.asyncDispose]();
    const next = again();
    await next.ready();
    for (const { callKey } of next.pendingApprovals) await next.decide(callKey, { decision: "allow" });
    expect(JSON.stringify((await resume(next).result()).messages)).toContain("from the other");
    expect(ran).toEqual([]);
    expect(asked).toHaveLength(2);
    expect(asked[1]).toEqual(asked[0]);
  });

  it("is hidden on the node that takes over as it was on the one before", async () => {
    ran.length = 0;
    const hides: Hooks = { name: "prepare", prepare: () => ({ tools: [added(() => "x")] }), gate: () => ({ action: "ask" }) };
    const { session, again } = withHooks([{ calls: [{ name: "extra" }, { name: "act" }] }, { text: "ok" }], hides);
    await execute(session, "x").result();
    await session[Symbol.asyncDispose]();
    const next = again();
    await next.ready();
    expect(next.pendingApprovals.map(({ toolName }) => toolName)).toEqual(["extra"]);
    expect(ran).toEqual([]);
  });

  it("stands in no fact where the hook leaves the list as it was", async () => {
    const { session, facts } = withHooks([{ calls }, { text: "ok" }], { name: "prepare", prepare: ({ tools }) => ({ tools: [...tools] }) });
    await execute(session, "x").result();
    expect(JSON.stringify((await facts()).filter(({ type }) => type === "model.started"))).not.toContain("tools");
  });
});
