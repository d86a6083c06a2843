import { describe, expect, it } from "vitest";
import { createAgent, defineTool, execute, systemText, type Tool } from "../src/index.ts";
import { calm, deferred, eventsOf, ofType, world } from "./harness.ts";

const object = { type: "object" } as const;
const textTool = (name: string, execute: Tool["execute"] = () => `${name} done`): Tool =>
  defineTool({ name, description: `Does ${name}.`, parameters: object, execute });

describe("a turn of an assistant", () => {
  it("A03: that stops for tools runs each call, appends the results under their ids and asks the model again", async () => {
    const calls = [
      { name: "one", id: "c1" },
      { name: "two", id: "c2" },
    ];
    const { session, provider } = world([{ calls }, { text: "Both are done." }], { tools: [textTool("one"), textTool("two")] });
    await execute(session, "Do both").result();
    const [user, assistant, ...results] = provider.requests[1]?.messages ?? [];
    expect(user).toMatchObject({ role: "user", content: "Do both" });
    expect(assistant).toMatchObject({ role: "assistant", content: calls.map((call) => ({ type: "tool_call", ...call })) });
    expect(results.map((message) => message.role === "tool_result" && [message.toolCallId, message.outcome, message.content])).toEqual([
      ["c1", "ok", [{ type: "text", text: "one done" }]],
      ["c2", "ok", [{ type: "text", text: "two done" }]],
    ]);
    expect(provider.requests).toHaveLength(2);
  });

  it("A04: runs the calls of one answer at the same time", async () => {
    const started = { one: deferred(), two: deferred() };
    const waitFor = (own: keyof typeof started, other: keyof typeof started): Tool =>
      textTool(own, async () => {
        started[own].resolve();
        await started[other].promise;
        return "met";
      });
    const { session } = world([{ calls: [{ name: "one" }, { name: "two" }] }, { text: "ok" }], {
      tools: [waitFor("one", "two"), waitFor("two", "one")],
    });
    const events = await eventsOf(execute(session, "Meet"));
    expect(ofType(events, "tool_execution_end").map(({ outcome }) => outcome)).toEqual(["ok", "ok"]);
  });

  it.each([
    { turnsMax: undefined, requests: 10 },
    { turnsMax: 3, requests: 3 },
  ])(
    "A05: of a model that always calls a tool ends after $requests requests, the last one without tools",
    async ({ turnsMax, requests }) => {
      const { session, provider } = world(
        ({ tools }: { readonly tools?: readonly unknown[] }) => (tools ? { calls: [{ name: "again" }] } : { text: "That is what I have." }),
        { tools: [textTool("again")], ...(turnsMax === undefined ? {} : { limits: { turnsMax } }) },
      );
      const stream = execute(session, "Go");
      const events = await eventsOf(stream);
      expect(provider.requests.map(({ tools }) => tools?.length ?? 0)).toEqual([...Array<number>(requests - 1).fill(1), 0]);
      expect(ofType(events, "run_end")).toMatchObject([{ status: "completed", reason: "limit" }]);
      expect((await stream.result()).text).toBe("That is what I have.");
    },
  );
});

describe("the system prompt of an assistant", () => {
  it("A01, A17: is built anew for each request, from the caller's access and the input's labels", async () => {
    let built = 0;
    const { session, provider } = world([{ text: "1" }, { text: "2" }], {
      prompt: ({ access, labels }) => `${++built}: ${access.user} of ${access.scope} in ${labels["activeModule"]}`,
    });
    await execute(session, "Hi", { labels: { activeModule: "invoices" } }).result();
    await execute(session, "Hi again", { labels: { activeModule: "orders" } }).result();
    expect(provider.requests.map(({ system }) => systemText(system))).toEqual([
      "1: local of local in invoices",
      "2: local of local in orders",
    ]);
  });

  it("A20: is the one system prompt of the request: no message of the history is another", async () => {
    const { session, provider } = world([{ text: "Hi." }], { prompt: [{ text: "Be brief." }, { text: () => "Be kind." }] });
    await execute(session, "Hello").result();
    const [request] = provider.requests;
    expect(systemText(request?.system)).toBe("Be brief.\n\nBe kind.");
    expect(request?.messages.map(({ role }) => role)).toEqual(["user"]);
  });
});

describe("a tool of an assistant", () => {
  it.each([
    ["without a name", { description: "Does.", parameters: object }, /name/],
    ["without a description", { name: "does", parameters: object }, /description/],
    ["without parameters", { name: "does", description: "Does." }, /parameters/],
  ])("A22: %s is refused", (_, tool, message) => {
    expect(() => defineTool({ ...tool, execute: () => "" } as never)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringMatching(message) }),
    );
  });

  it("A22: is refused under a name that another tool of the agent has", () => {
    const { provider } = world([]);
    expect(() => createAgent({ name: "two", provider, tools: [textTool("same"), textTool("same")] })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("same") }),
    );
  });

  it("A23: runs here if it has an executor; one without is never run here and waits for its client", async () => {
    const runs: string[] = [];
    const here = textTool("here", () => void runs.push("here"));
    const there = defineTool({ name: "there", description: "Runs at the client.", parameters: object });
    const calls = [{ name: "here" }, { name: "there", id: "c2" }];
    const { session } = world([{ calls }, { text: "Done." }], { tools: [here, there] });
    const stream = execute(session, "Go");
    await stream.result();
    expect(runs).toEqual(["here"]);
    expect(session).toMatchObject({ status: "awaiting_tool_execution", pendingToolCalls: [{ toolCallId: "c2" }] });
    const result = await execute(session, [{ role: "tool_result", toolCallId: "c2", content: "from the client" }]).result();
    expect(result.text).toBe("Done.");
    expect(runs).toEqual(["here"]);
  });

  it("A25: runs under the access of its caller, also when two callers run it at once", async () => {
    const both = deferred();
    let waiting = 0;
    const who = textTool("who", async (_, { access }) => {
      if (++waiting === 2) both.resolve();
      await both.promise;
      return `${access.user} of ${access.scope}`;
    });
    const outputs = await Promise.all(
      ["ann", "ben"].map(async (user) => {
        const access = { user, scope: `team-${user}` };
        const { session } = world([{ calls: [{ name: "who" }] }, { text: "ok" }], { tools: [who], session: { id: user, access } });
        const events = await eventsOf(execute(session, "Who am I?"));
        return ofType(events, "tool_execution_end").map(({ output }) => output);
      }),
    );
    await calm();
    expect(outputs).toEqual([[[{ type: "text", text: "ann of team-ann" }]], [[{ type: "text", text: "ben of team-ben" }]]]);
  });
});
