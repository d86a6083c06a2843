import { createAgent, createSession, defineTool, execute, type Labels, systemText, type Tool } from "@loopwright/core";
import { memoryStore, type ScriptedTurn, scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import {
  createSessionTools,
  defaultChoice,
  defaultFirstList,
  defaultToolNames,
  type SessionTools,
  type SessionToolsOptions,
  toolNames,
  usedModes,
} from "../src/index.ts";

const object = { type: "object" } as const;
const named = (name: string): Tool => defineTool({ name, description: `Does ${name}.`, parameters: object, execute: () => name });

interface Opened {
  readonly provider: ReturnType<typeof scripted>;
  readonly tools: SessionTools;
  say(id: string, labels?: Labels): Promise<unknown>;
  /** Another process on the same store. */
  restart(): Opened;
}

/** Sessions over tools of which three change the list as their arguments have it. */
function opened(script: readonly ScriptedTurn[], options: Partial<SessionToolsOptions> = {}, store = memoryStore()): Opened {
  const provider = scripted(script);
  const changing = (["register", "unregister", "clear"] as const).map((kind) =>
    defineTool({
      name: kind,
      description: `Changes the list: ${kind}.`,
      parameters: { ...object, properties: { names: { type: "array" }, fail: { type: "boolean" } } },
      execute(args, context) {
        const { names = [], fail } = args as { readonly names?: readonly string[]; readonly fail?: boolean };
        const changes = tools.of(context);
        if (kind === "clear") changes.clear();
        else changes[kind](...names);
        if (fail) throw new Error("It failed after the change.");
        return "changed";
      },
    }),
  );
  const tools: SessionTools = createSessionTools({
    sources: {
      base: changing,
      more: [
        { tool: named("search"), selectionRule: "For facts." },
        { tool: named("draw"), selectionRule: "For images." },
      ],
    },
    first: () => ["register", "unregister", "clear", "search"],
    ...options,
  });
  const agent = createAgent({ name: "demo", provider, tools: tools.tools, hooks: [tools.hooks], prompt: "Be brief." });
  const sessions = new Map<string, ReturnType<typeof createSession>>();
  return {
    provider,
    tools,
    say(id, labels) {
      const session = sessions.get(id) ?? createSession({ agent, id, store });
      sessions.set(id, session);
      return execute(session, "x", labels ? { labels } : {}).result();
    },
    restart: () => opened(script.slice(provider.requests.length), options, store),
  };
}

const shown = ({ provider }: Opened): readonly string[][] => provider.requests.map(({ tools = [] }) => tools.map(({ name }) => name));
const change = (name: string, ...names: readonly string[]): ScriptedTurn => ({ calls: [{ name, args: { names } }] });
const controls = ["register", "unregister", "clear"];

describe("the list of a session", () => {
  it("B12: is changed by register, unregister and clear, each seen in the next request, and `get`, `tools` and `basePrompt` give the catalogue", async () => {
    const base = "You are an orchestrator.";
    const world = opened([change("register", "draw"), change("unregister", "search"), change("clear"), { text: "ok" }], {
      basePrompt: base,
    });
    await world.say("s1");
    expect(shown(world)).toEqual([[...controls, "search"], [...controls, "search", "draw"], [...controls, "draw"], []]);
    expect(world.tools.get("draw")?.selectionRule).toBe("For images.");
    expect(world.tools.tools.map(({ name }) => name)).toEqual([...controls, "search", "draw"]);
    expect(world.tools.basePrompt).toBe(base);
  });

  it("B01: belongs to one session: another session of the same agent begins with the first list", async () => {
    const world = opened([change("register", "draw"), { text: "ok" }, { text: "ok" }, { text: "ok" }]);
    await world.say("s1");
    await world.say("s2");
    await world.say("s1");
    expect(shown(world).slice(1)).toEqual([
      [...controls, "search", "draw"],
      [...controls, "search"],
      [...controls, "search", "draw"],
    ]);
  });

  it("survives a restart between two runs, because the facts have it", async () => {
    const world = opened([change("register", "draw"), { text: "ok" }, { text: "ok" }]);
    await world.say("s1");
    const next = world.restart();
    await next.say("s1");
    expect(shown(next)).toEqual([[...controls, "search", "draw"]]);
  });

  it("takes the changes of parallel calls in the order of the calls, and none of a call that failed", async () => {
    const world = opened([
      {
        calls: [
          { name: "clear" },
          { name: "register", args: { names: ["draw", "register"] } },
          { name: "unregister", args: { names: ["draw"], fail: true } },
        ],
      },
      { text: "ok" },
    ]);
    await world.say("s1");
    expect(shown(world)[1]).toEqual(["register", "draw"]);
  });

  it("answers a call of a tool that is not in the list as one of an unknown tool", async () => {
    const world = opened([{ calls: [{ name: "draw" }] }, { text: "ok" }]);
    expect(JSON.stringify(await world.say("s1"))).toContain("TOOL_UNKNOWN");
  });

  it("refuses to register a tool that no source has", async () => {
    const world = opened([change("register", "paint"), { text: "ok" }]);
    expect(JSON.stringify(await world.say("s1"))).toContain("`paint` cannot be registered");
  });
});

describe("sources", () => {
  it("A24: are united in their order, and a name of another source or with its beginning is refused", () => {
    const sources = { platform: [named("_platform_list")], modules: [named("invoices")], companions: [named("search")] };
    expect(createSessionTools({ sources }).tools.map(({ name }) => name)).toEqual(["_platform_list", "invoices", "search"]);
    expect(() => createSessionTools({ sources: { ...sources, modules: [named("_platform_x")] } })).toThrow(
      /belong to the source `platform`/,
    );
    expect(() => createSessionTools({ sources: { ...sources, modules: [named("search")] } })).toThrow(
      /`modules` and `companions` both have it/,
    );
  });

  it("A27: a tool with surfaces is shown on these alone", async () => {
    const world = opened([{ text: "ok" }, { text: "ok" }], {
      sources: { base: [named("search"), { tool: named("click"), surfaces: ["full-page"] }] },
      first: undefined as never,
    });
    await world.say("s1", { surface: "side-panel" });
    await world.say("s1", { surface: "full-page" });
    expect(shown(world)).toEqual([["search"], ["search", "click"]]);
  });
});

describe("the prompt", () => {
  it("B16: has the rules of the tools in the list behind the base, and a tool that leaves the list takes its rule along", async () => {
    const world = opened([change("unregister", "search"), { text: "ok" }]);
    await world.say("s1");
    expect(world.provider.requests.map(({ system }) => systemText(system))).toEqual([
      "Be brief.\n\n# When to use which tool\n- search: For facts.",
      "Be brief.",
    ]);
  });

  it("B15: a tool has a name, a description, a schema, a rule, and an `execute` that gets its session, its usage and its steps", async () => {
    const got: string[] = [];
    const tool = defineTool({
      name: "look",
      description: "Looks.",
      parameters: { ...object, properties: { at: { type: "string" } } },
      enabled: () => true,
      execute(args, { session, callId, addUsage, progress }) {
        addUsage({ input: 3 });
        progress("Looking").end();
        got.push(String(args["at"]), session.id, callId);
        return "seen";
      },
    });
    const world = opened([{ calls: [{ name: "look", id: "c1", args: { at: "sky" } }] }, { text: "ok" }], {
      sources: { base: [{ tool, selectionRule: "To look." }] },
      first: () => ["look"],
    });
    expect(await world.say("s1")).toMatchObject({ status: "completed", usage: { input: 3 } });
    expect(got).toEqual(["sky", "s1", "c1"]);
  });
});

it("B69: the modes of the tools that were called are known of the conversation, after a reload too", async () => {
  const sources = {
    base: [{ tool: named("ask_files"), modes: ["RAG", "CHATBOT"] }, { tool: named("count"), modes: ["DATA_ANALYSIS"] }, named("look")],
  };
  const tools = createSessionTools({ sources });
  const calls = [{ name: "look" }, { name: "ask_files" }, { name: "ask_files" }];
  const agent = createAgent({ name: "demo", provider: scripted([{ calls }, { text: "ok" }]), tools: tools.tools });
  const store = memoryStore();
  const session = createSession({ agent, store, id: "s" });
  await execute(session, "Look.").result();
  await session[Symbol.asyncDispose]();
  const again = await createSession({ agent, store, id: "s" }).ready();
  expect(usedModes(again.messages, tools)).toEqual(["RAG", "CHATBOT"]);
});

describe("the default list", () => {
  const base = [toolNames.craft, toolNames.webSearch, toolNames.image];
  const memories = [toolNames.retrieveMemory, toolNames.storeMemory];

  it("B14: has the tools for memories, artifacts, the web and images", () => {
    expect(defaultToolNames([])).toEqual([...memories, ...base]);
  });

  it.each([
    { modes: "RAG", more: [toolNames.rag] },
    { modes: "CHATBOT", more: [toolNames.rag, toolNames.chatbot] },
    { modes: "RAG,CHATBOT", more: [toolNames.rag, toolNames.chatbot] },
    { modes: "DATA_ANALYSIS", more: [toolNames.dataAnalysis] },
    { modes: "RAG,DATA_ANALYSIS", more: [toolNames.rag, toolNames.dataAnalysis] },
  ])("B13: the modes $modes add their tools in the request, and without memories two are missing", async ({ modes, more }) => {
    const world = opened([{ text: "ok" }], {
      sources: { base: Object.values(toolNames).map(named) },
      first: defaultFirstList,
    });
    await world.say("s1", { modes });
    expect(new Set(shown(world)[0])).toEqual(new Set([...memories, ...base, ...more]));
    expect(defaultToolNames(modes.split(","), { memory: false })).toEqual([...base, ...more]);
  });

  it("B13: deep research begins without any of them", () => {
    expect(defaultToolNames(["DEEP_RESEARCH", "RAG"])).toEqual([]);
  });

  it.each([
    { labels: {}, choice: undefined },
    { labels: { modes: "RAG", attachments: "f1,f2" }, choice: { tool: toolNames.rag } },
    { labels: { modes: "CHATBOT", chatbotId: "b1" }, choice: { tool: toolNames.chatbot } },
    { labels: { modes: "CHATBOT", chatbotId: "b1", attachments: "f1,f2" }, choice: { tool: toolNames.chatbot } },
    { labels: { attachments: "f1,f2", chatbotId: "b1" }, choice: undefined },
  ])("B53: with $labels the first request has the choice $choice, and the next one leaves it to the model", async ({ labels, choice }) => {
    const world = opened([{ calls: [{ name: choice?.tool ?? toolNames.craft }] }, { text: "ok" }], {
      sources: { base: Object.values(toolNames).map(named) },
      first: defaultFirstList,
      choose: defaultChoice,
    });
    await world.say("s1", labels as unknown as Labels);
    expect(world.provider.requests.map(({ toolChoice }) => toolChoice)).toEqual([choice, undefined]);
  });
});
