import { defineTool } from "@loopwright/core";
import type { Json } from "@loopwright/core/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonDiff } from "../src/json-diff.ts";
import { run, say, threadServer } from "./thread-server.ts";

const setPlan = defineTool({
  ...{
    name: "set_plan",
    description: "Sets the plan.",
    parameters: {
      type: "object",
      properties: { steps: { type: "array", items: { type: "string" } } },
      required: ["steps"],
    } as const,
  },
  execute: ({ steps }) => ({
    type: "complete" as const,
    output: "set",
    details: { state: { steps, note: "A long note that does not change." } },
  }),
});
const plan = (...steps: readonly string[]) => ({ calls: [{ name: "set_plan", args: { steps } }] });
const stateOf = (...steps: readonly string[]) => ({ steps, note: "A long note that does not change." });
const stateEvents = (events: readonly { readonly type: string }[]): readonly string[] =>
  events.map(({ type }) => type).filter((type) => type.startsWith("STATE"));

describe("the state that a page shares with its agent", () => {
  it("comes whole at first, then as what has changed, and again after a reload", async () => {
    const { page, send } = await threadServer([plan("dig"), plan("dig", "sow"), { text: "Planned." }], { tools: [setPlan] });
    const agent = page();
    const events = await say(agent, "Plan.");
    expect(stateEvents(events)).toEqual(["STATE_SNAPSHOT", "STATE_DELTA"]);
    expect(agent.state).toEqual(stateOf("dig", "sow"));
    expect(await (await send("/ag-ui/helper/first%20thread")).json()).toMatchObject({ state: stateOf("dig", "sow") });
  });

  it("ends the same on a page that runs the same run again, whatever it has of the state", async () => {
    const { page, provider } = await threadServer([plan("dig"), plan("dig", "sow"), plan("sow"), { text: "Planned." }], {
      ...{ tools: [setPlan], hasState: true },
    });
    await say(page(), "Plan.", { runId: "r1" });
    for (const state of [{}, stateOf("dig"), stateOf("dig", "sow"), stateOf("sow"), ["another", "state"], "text"]) {
      const again = page();
      again.setState(state);
      again.addMessage({ id: "m1", role: "user", content: "Plan." });
      await run(again, { runId: "r1" });
      expect(again.state, JSON.stringify(state)).toEqual(stateOf("sow"));
    }
    expect(provider.requests).toHaveLength(4);
  });

  it("is read by the model where the host lets it, when the page has changed it, and is not shown as a message", async () => {
    const { page, provider, send } = await threadServer([plan("dig"), { text: "One." }, { text: "Two." }, { text: "Three." }], {
      ...{ tools: [setPlan], hasState: true },
    });
    const agent = page();
    await say(agent, "Plan.");
    await say(agent, "And now?");
    agent.setState(stateOf("dig", "rest"));
    await say(agent, "I have changed it.");
    const asked = provider.requests.map(({ messages }) => JSON.stringify(messages.findLast(({ role }) => role === "user")));
    expect(asked.map((text) => text.includes("page_state"))).toEqual([false, false, false, true]);
    expect(asked.at(-1)).toContain('"rest"');
    const { messages, state } = (await (await send("/ag-ui/helper/first%20thread")).json()) as {
      messages: { role: string; content: unknown }[];
      state: unknown;
    };
    expect(messages.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
      "Plan.",
      "And now?",
      "I have changed it.",
    ]);
    expect(state).toEqual(stateOf("dig", "rest"));
    expect(messages.filter(({ role }) => role === "assistant")).toEqual(agent.messages.filter(({ role }) => role === "assistant"));
  });

  it("is not read by the model where the host does not let it", async () => {
    const { page, provider } = await threadServer([{ text: "One." }]);
    const agent = page();
    agent.setState({ secret: "a plan" });
    await say(agent, "Hello.");
    expect(JSON.stringify(provider.requests)).not.toContain("a plan");
  });

  it("is made by the SDK of any change of any state", async () => {
    const { page, provider } = await threadServer([]);
    expect(provider.requests).toHaveLength(0);
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), async (before, after) => {
        const events = [
          { type: "RUN_STARTED", threadId: "t", runId: "r", protocolVersion: "1.0" },
          { type: "STATE_SNAPSHOT", snapshot: before },
          { type: "STATE_DELTA", delta: jsonDiff(before as Json, after as Json) },
          { type: "RUN_FINISHED", threadId: "t", runId: "r", outcome: { type: "success" } },
        ];
        const text = events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
        const agent = page({ fetch: async () => new Response(text, { headers: { "content-type": "text/event-stream" } }) });
        await agent.runAgent({ runId: "r" });
        expect(agent.state).toEqual(JSON.parse(JSON.stringify(after)));
      }),
      { numRuns: 150 },
    );
  });
});
