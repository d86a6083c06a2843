import { createSession, defineTool, execute, type Labels, type Message, systemText, type Tool } from "@loopwright/core";
import { memoryStore, type ScriptedTurn, scripted } from "@loopwright/core/memory";
import type { ContextEngine } from "@loopwright/core/ports";
import { knowledgeHooks } from "@loopwright/tools-knowledge";
import { createSessionTools, toolNames } from "@loopwright/tools-registry";
import { describe, expect, it } from "vitest";
import { type MainThreadOptions, mainThreadAgent, researcherAgent, type SettingsSource } from "../src/index.ts";

const object = { type: "object" } as const;
const tool = (name: string, output: unknown = name): Tool =>
  defineTool({ name, description: `Does ${name}.`, parameters: object, execute: () => output });
const look = { calls: [{ name: "look" }] } as const;

interface Written {
  readonly labels?: Labels;
  readonly options?: Partial<MainThreadOptions>;
  readonly user?: string;
}

/** What the requests of one run of a main thread were, and how it ended. */
async function written(script: readonly ScriptedTurn[] | (() => ScriptedTurn), { labels, options, user = "ann" }: Written = {}) {
  const provider = scripted(script as readonly ScriptedTurn[]);
  const agent = mainThreadAgent({ provider, prompt: "Base.", tools: [tool("look")], ...options } as MainThreadOptions);
  const access = { scope: "local", user };
  const session = createSession({ agent, store: memoryStore(), access });
  const result = await execute(session, "What is it?", labels ? { labels } : {}).result();
  return { requests: provider.requests, result, session };
}

const always = (): ScriptedTurn => look;

describe("the limit of a main thread", () => {
  it.each([1, 3, 5])(
    "B30, B31, B32: with %i tool calls a model that always calls gets one notice, no tools, and no error",
    async (limit) => {
      const { requests, result } = await written(always, { options: { toolCallsLimit: limit } });
      expect(requests).toHaveLength(limit + 1);
      expect(requests.map(({ tools }) => tools?.length ?? 0)).toEqual([...Array(limit).fill(1), 0]);
      const notices = requests.at(-1)?.messages.filter(({ role }) => role === "notice") as readonly { readonly text: string }[];
      expect(notices.map(({ text }) => text)).toEqual([expect.stringContaining(`the ${limit} tool calls`)]);
      expect(result).toMatchObject({ status: "completed" });
    },
  );

  it.each([
    { configured: true, calls: 1, status: "aborted" },
    { configured: false, calls: 2, status: "completed" },
  ])(
    "B30: a client that leaves while a tool runs ends the loop before the next model call where its signal is given ($configured)",
    async ({ configured, calls, status }) => {
      const client = new AbortController();
      const leaves = defineTool({
        name: "look",
        description: "The client leaves while it runs.",
        parameters: object,
        execute() {
          client.abort();
          return "seen";
        },
      });
      const provider = scripted([look, { text: "Nothing reads this." }]);
      const session = createSession({ agent: mainThreadAgent({ provider, tools: [leaves] }), store: memoryStore() });
      const result = await execute(session, "x", configured ? { signal: client.signal } : {}).result();
      expect(result.status).toBe(status);
      expect(provider.requests).toHaveLength(calls);
    },
  );

  it("B32: the last answer is the text of the model where it writes one", async () => {
    const { result } = await written([look, look, { text: "This is it." }], { options: { toolCallsLimit: 2 } });
    expect(result).toMatchObject({ status: "completed", text: "This is it." });
  });

  it("B31: sends no tools where the request does not want any", async () => {
    const { requests } = await written([{ text: "ok" }], { labels: { toolsRequired: "false" } });
    expect(requests[0]).not.toHaveProperty("tools");
    expect(requests[0]).not.toHaveProperty("toolChoice");
    expect(requests[0]).not.toHaveProperty("parallelToolCalls");
  });

  it("B46, B107: comes from the plan of the user, its model and its agent", async () => {
    const settings: SettingsSource = { settingsOf: ({ user }) => ({ plan: user === "ann" ? "free" : "paid" }) };
    const asked: string[] = [];
    const plans = (plan: string, model: string, agent: string) => {
      asked.push(`${plan} ${model} ${agent}`);
      return { contextLimit: 8_000, toolCallsLimit: plan === "free" ? 1 : 3, parallel: plan === "paid" };
    };
    const ann = await written(always, { options: { settings, plans } });
    const bob = await written(always, { options: { settings, plans }, user: "bob" });
    expect([ann.requests.length, bob.requests.length]).toEqual([2, 4]);
    expect(asked[0]).toBe("free scripted-1 main-thread");
  });

  it("B46, B48: its context limit is the window that the context engine fits the requests into, per plan", async () => {
    const windows: (number | undefined)[] = [];
    const context: ContextEngine = {
      open: () => ({
        fit({ provider, request, history }) {
          windows.push(provider.capabilities(request.model).contextTokens);
          return { messages: history.messages };
        },
      }),
    };
    const settings: SettingsSource = { settingsOf: ({ user }) => ({ plan: user === "ann" ? "free" : "paid" }) };
    const plans = (plan: string) => ({ contextLimit: plan === "free" ? 8_000 : 64_000, toolCallsLimit: 3, parallel: true });
    await written([look, { text: "ok" }], { options: { settings, plans, context } });
    await written([{ text: "ok" }], { options: { settings, plans, context }, user: "bob" });
    expect(windows).toEqual([8_000, 8_000, 64_000]);
  });

  it.each([2, 6])("B47: is the %i of the agent, whatever the plan gives", async (toolCallsLimit) => {
    const plans = () => ({ contextLimit: 8_000, toolCallsLimit: 4, parallel: true });
    const { requests } = await written(always, { options: { plans, toolCallsLimit } });
    expect(requests).toHaveLength(toolCallsLimit + 1);
    expect((await written(always, { options: { plans } })).requests).toHaveLength(5);
  });

  it("B87: does not count calls of tools that are not to be counted", async () => {
    const calls = { calls: [{ name: "look" }, { name: "look" }, { name: "peek" }] };
    const options = { tools: [tool("look"), tool("peek")], toolCallsLimit: 2, uncounted: ["peek"] };
    const { requests } = await written([{ calls: [{ name: "peek" }] }, calls, { text: "ok" }], { options });
    expect(requests.map(({ tools }) => tools?.length ?? 0)).toEqual([2, 2, 0]);
  });

  it.each([
    { parallel: true, models: [], sent: true },
    { parallel: false, models: [], sent: false },
    { parallel: false, models: ["scripted-1"], sent: true },
  ])("B11: parallel calls come from the plan ($parallel) or the model ($models)", async ({ parallel, models, sent }) => {
    const plans = () => ({ contextLimit: 8_000, toolCallsLimit: 3, parallel });
    const { requests } = await written([{ text: "ok" }], { options: { plans, parallelModels: models } });
    expect(requests[0]?.parallelToolCalls).toBe(sent);
  });
});

it("B33: a call of nothing but tools that are not enabled ends with a text that names the first, and no further request", async () => {
  const off = defineTool({ name: "look", description: "Looks.", parameters: object, enabled: () => false, execute: () => "seen" });
  const { requests, result } = await written([{ text: "I look.", calls: [{ name: "look" }] }], { options: { tools: [off] } });
  expect(result).toMatchObject({ status: "completed", text: "The tool look is not enabled for you." });
  expect(requests).toHaveLength(1);
});

it.each([
  { count: 2, noticed: false },
  { count: 3, noticed: true },
])(
  "B79: $count results in a turn bring a notice to draw them together: $noticed, for the next request alone",
  async ({ count, noticed }) => {
    const many = { calls: Array.from({ length: count }, () => ({ name: "look" })) };
    const { requests, session } = await written([many, look, { text: "ok" }]);
    const has = requests.map(({ messages }) => messages.some((one) => one.role === "notice" && one.text.includes("Draw them together")));
    expect(has).toEqual([false, noticed, false]);
    expect(JSON.stringify(session.messages)).not.toContain("Draw them together");
  },
);

describe("attachments and chatbots", () => {
  it("B34: pasted text moves from the result to the front of the user's message, for the next requests alone", async () => {
    const rag = tool(toolNames.rag, { passages: ["p"], pastedTextEmbeddings: ["One.", "Two."] });
    const { requests, session } = await written([{ calls: [{ name: toolNames.rag }] }, { text: "ok" }], {
      options: { tools: [rag], hooks: [knowledgeHooks()] },
    });
    expect(requests[1]?.messages[0]).toEqual({ role: "user", content: "One.\n\nTwo.\nUser Query: What is it?" });
    expect(session.messages[0]).toEqual({ role: "user", content: "What is it?" });
    const result = JSON.stringify(session.messages.find(({ role }) => role === "tool_result"));
    expect(result).not.toContain("One.");
    expect(result).toContain("pastedTextEmbeddings");
  });

  it("B35: a chatbot that wants the knowledge base forces the search for the next call alone", async () => {
    const tools = [tool(toolNames.chatbot), tool(toolNames.rag)];
    const ask = { calls: [{ name: toolNames.chatbot, args: { shouldUseKnowledgeBase: true } }] };
    const { requests } = await written([ask, { calls: [{ name: toolNames.rag }] }, { text: "ok" }], {
      options: { tools, hooks: [knowledgeHooks()] },
    });
    expect(requests.map(({ toolChoice }) => toolChoice)).toEqual([undefined, { tool: toolNames.rag }, undefined]);
  });
});

describe("the prompt of a main thread", () => {
  const everything: SettingsSource = {
    settingsOf: () => ({
      plan: "p",
      personalization: { enabled: true, text: "Formal." },
      memory: { enabled: true, profile: "Lives in Oslo." },
      projectRule: "Cite.",
    }),
  };
  const sections = ["Base.", "look: To look", "Formal.", "Lives in Oslo.", "Cite.", "f1, f2"];
  const tools = createSessionTools({ sources: { base: [{ tool: tool("look"), selectionRule: "To look" }] } });

  it("B49: has base, rules of tools, personalization, memories, project rule and attachments in this order", async () => {
    const { requests } = await written([{ text: "ok" }], { options: { settings: everything, tools }, labels: { attachments: "f1,f2" } });
    const text = systemText(requests[0]?.system) ?? "";
    const places = sections.map((section) => text.indexOf(section));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((one, other) => one - other));
  });

  it.each([
    { off: "personalization", gone: "Formal." },
    { off: "memory", gone: "Lives in Oslo." },
  ])("B49, B107: $off switched off takes its section alone away, at the next model call", async ({ off, gone }) => {
    let isOn = true;
    const settings: SettingsSource = {
      async settingsOf(access, labels) {
        const all = await everything.settingsOf(access, labels);
        return isOn ? all : { ...all, [off]: { enabled: false, text: "Formal.", profile: "Lives in Oslo." } };
      },
    };
    const flip = defineTool({
      name: "look",
      description: "Looks.",
      parameters: object,
      execute() {
        isOn = false;
        return "seen";
      },
    });
    const { requests } = await written([look, { text: "ok" }], { options: { settings, tools: [flip] } });
    const [before = "", after = ""] = requests.map(({ system }) => systemText(system));
    expect(before).toContain(gone);
    for (const section of ["Base.", "Formal.", "Lives in Oslo.", "Cite."]) expect(after.includes(section)).toBe(section !== gone);
  });

  it.each([
    { models: ["scripted-1"], roles: ["user", "assistant", "user"] },
    { models: ["other"], roles: ["user"] },
  ])("B51, B52: examples stand before the history for the models $models", async ({ models, roles }) => {
    const messages: readonly Message[] = [
      { role: "user", content: "2 + 2?" },
      { role: "assistant", content: [{ type: "text", text: "4" }], stopReason: "stop" },
    ];
    const { requests, session } = await written([{ text: "ok" }], { options: { fewShot: { models, messages } } });
    expect(requests[0]?.messages.map(({ role }) => role)).toEqual(roles);
    expect(requests[0]?.messages.at(-1)).toMatchObject({ content: "What is it?" });
    expect(session.messages).toHaveLength(2);
  });
});

it("B02: another agent value alone changes the tools and the limit of the same script", async () => {
  const counted = async (make: typeof mainThreadAgent | typeof researcherAgent) => {
    const provider = scripted(always);
    const plans = (_plan: string, _model: string, agent: string) => ({
      contextLimit: 8_000,
      toolCallsLimit: agent === "researcher" ? 1 : 2,
      parallel: true,
    });
    await execute(createSession({ agent: make({ provider, tools: [tool("look")], plans }) }), "x").result();
    return provider.requests.map(({ tools = [] }) => tools.map(({ name }) => name).join());
  };
  expect(await counted(mainThreadAgent)).toEqual(["look", "look", ""]);
  expect(await counted(researcherAgent)).toEqual(["get_search_history_tool,look", ""]);
});
