import { agentTool, createSession, defineTool, execute, type ModelRequest, resume, systemText } from "@loopwright/core";
import { memoryStore, type ScriptedTurn, scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import {
  deepResearchSupervisor,
  mainThreadAgent,
  type Report,
  researcherAgent,
  researchToolNames,
  type SearchHistory,
  type SupervisorOptions,
  searchesInLog,
} from "../src/index.ts";

const report: Report = {
  title: "Ports",
  sections: [{ heading: "Lisbon", claims: [{ text: "It has a port.", sources: ["https://example.com/lisbon"] }] }],
};
const writes: ScriptedTurn = { calls: [{ name: researchToolNames.report, args: report as never }] };
const research = (...questions: readonly string[]): ScriptedTurn => ({
  calls: questions.map((question) => ({ name: researchToolNames.researcher, args: { question } })),
});
const done: ScriptedTurn = { text: "Done." };

const search = defineTool({
  name: "web_search_tool",
  description: "Searches.",
  parameters: { type: "object", properties: { query: { type: "string" } } },
  replay: "pure",
  execute: ({ query }) => `Found ${String(query)}.`,
});

type Step = ScriptedTurn | ((request: ModelRequest) => ScriptedTurn);

interface Led {
  readonly lead: readonly Step[] | (() => ScriptedTurn);
  readonly found?: readonly Step[];
  readonly options?: Partial<SupervisorOptions>;
}

/** A research with these answers of the supervisor and of its researchers. */
function led({ lead, found = [], options = {} }: Led) {
  const provider = scripted(lead as readonly Step[]);
  const researchers = scripted(found);
  const agent = deepResearchSupervisor({
    provider,
    researcher: { provider: researchers, tools: [search] },
    checksCitations: false, // The course alone: citations.test.ts checks these.
    ...options,
  } as SupervisorOptions);
  const store = memoryStore();
  const session = createSession({ agent, id: "lead", store });
  return { provider, researchers, session, facts: () => store.log.read({ scope: "local", session: "lead" }) };
}

const calledTools = (messages: readonly { readonly role: string }[]): readonly string[] =>
  messages.flatMap((message) => ("toolName" in message ? [String(message.toolName)] : []));

describe("a supervisor", () => {
  it("B104: gives parts to researchers at once, writes the report, and the report is its answer", async () => {
    const { provider, researchers, session } = led({
      lead: [research("Lisbon?", "Porto?"), writes, done],
      found: [{ text: "Lisbon has a port." }, { text: "Porto has one." }],
    });
    const result = await execute(session, "Ports of Portugal?").result();
    expect(result).toMatchObject({ status: "completed" });
    expect(result.text).toContain("## Lisbon\n\n- It has a port. [1]");
    expect(result.text).toContain("1. [https://example.com/lisbon](https://example.com/lisbon)");
    expect(researchers.requests).toHaveLength(2);
    expect(provider.requests).toHaveLength(3);
    const stored = session.messages.find((message) => message.role === "tool_result" && message.toolName === researchToolNames.report);
    expect(stored).toMatchObject({ details: report });
  });

  it("B57: the report is wrapped as shown to the user, and later runs read a snippet of 100 words", async () => {
    const text = Array.from({ length: 300 }, (_, at) => `word${at}`).join(" ");
    const long = { ...report, sections: [{ heading: "All", claims: [{ text, sources: [] }] }] };
    const { provider, session } = led({
      lead: [{ calls: [{ name: researchToolNames.report, args: long as never }] }, done, { text: "ok" }],
      options: { retriesMax: 0, forcesReport: false },
    });
    await execute(session, "x").result();
    const next = provider.requests[1]?.messages.find(({ role }) => role === "tool_result");
    expect(JSON.stringify(next)).toContain("<already_shown_to_the_user>");
    expect(JSON.stringify(next)).toContain("word299");
    await execute(session, "And now?").result();
    const later = provider.requests[2]?.messages.find((message) => message.role === "tool_result");
    expect(later?.content).toContain("<already_shown_to_the_user>");
    expect(later?.content).not.toContain("word100");
  });

  it("B104: questions rest the run until they are answered, and the answer is in the next request", async () => {
    const ask: ScriptedTurn = { calls: [{ name: researchToolNames.feedback, id: "q1", args: { questions: ["Which year?"] } }] };
    const { provider, session } = led({ lead: [ask, writes, done] });
    const waiting = await execute(session, "Ports?").result();
    expect(waiting).toMatchObject({
      status: "awaiting_tool_execution",
      pendingToolCalls: [{ toolName: researchToolNames.feedback, args: { questions: ["Which year?"] } }],
    });
    const result = await execute(session, [{ role: "tool_result", toolCallId: "q1", content: "2026" }]).result();
    expect(result.text).toContain("# Ports");
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain("2026");
  });

  it("B36, B39: an answer without a call is asked again with a notice, the third time with the cheaper model", async () => {
    const { provider, session } = led({
      lead: [{ text: "Hm." }, { text: "Hm." }, writes, done],
      options: { cheaperModel: "small" },
    });
    const result = await execute(session, "Ports?").result();
    expect(result.text).toContain("# Ports");
    expect(provider.requests.map(({ model }) => model).slice(0, 3)).toEqual(["scripted-1", "scripted-1", "small"]);
    expect(JSON.stringify(provider.requests[1]?.messages.at(-1))).toContain("You have called no tool");
  });

  it("B110: retries that are used up end in exactly one forced report, whether or not it comes", async () => {
    const never = led({ lead: () => ({ text: "Hm." }) });
    await execute(never.session, "Ports?").result();
    expect(never.provider.requests.map(({ toolChoice }) => toolChoice)).toEqual([
      undefined,
      undefined,
      undefined,
      { tool: researchToolNames.report },
    ]);
    const late = led({ lead: [{ text: "Hm." }, { text: "Hm." }, { text: "Hm." }, writes, done] });
    expect((await execute(late.session, "Ports?").result()).text).toContain("# Ports");
    expect(late.provider.requests[3]?.tools?.map(({ name }) => name)).toEqual([researchToolNames.report]);
  });

  it.each([1, 2])("B37, B38: at the limit of %i researchers one last call is forced to the report, which is stored", async (limit) => {
    const { provider, session } = led({
      lead: [...Array.from({ length: limit }, () => research("Lisbon?")), writes, done],
      found: Array.from({ length: limit }, () => ({ text: "Yes." })),
      options: { toolCallsLimit: limit },
    });
    const result = await execute(session, "Ports?").result();
    expect(provider.requests.map(({ toolChoice }) => toolChoice)).toEqual([
      ...Array.from({ length: limit }, () => undefined),
      { tool: researchToolNames.report },
      undefined,
    ]);
    expect(provider.requests.at(-1)).not.toHaveProperty("tools");
    // The notice that names the limit comes with the forced call, once; a main thread would have had one more turn for its answer in words.
    const notices = provider.requests.map(({ messages }) =>
      messages.filter((one) => one.role === "notice" && one.text.includes(`the ${limit} researchers`)),
    );
    expect(notices.map(({ length }) => length)).toEqual([...Array(limit).fill(0), 1, 1]);
    expect(provider.requests[limit]?.tools?.map(({ name }) => name)).toEqual([researchToolNames.report]);
    expect(result.text).toContain("# Ports");
    expect(calledTools(session.messages)).toContain(researchToolNames.report);
  });

  it("shows nothing of what the model closes with, because the report takes its place", async () => {
    const { session } = led({ lead: [research("Lisbon?"), writes, { text: "Closing words." }] });
    const stream = execute(session, "Ports?");
    let shown = "";
    for await (const event of stream) if (event.type === "text_delta") shown += event.delta;
    expect(shown).toContain("# Ports");
    expect(shown).not.toContain("Closing words.");
    expect((await stream.result()).text).toContain("# Ports");
  });

  it("B37: with a limit of n it gives n parts to researchers, and what it wants beyond them is the forced report", async () => {
    const limit = 2;
    const always = (): ScriptedTurn => research("Lisbon?");
    const { provider, researchers, session } = led({
      lead: (() => (provider.requests.length > limit + 1 ? writes : always())) as never,
      found: Array.from({ length: 9 }, () => ({ text: "Yes." })),
      options: { toolCallsLimit: limit },
    });
    const result = await execute(session, "Ports?").result();
    expect(result.status).toBe("completed");
    expect(researchers.requests).toHaveLength(limit);
  });

  it("B38: without the rule a research ends without a report", async () => {
    const { provider, session } = led({ lead: [{ text: "That is all." }], options: { forcesReport: false, retriesMax: 0 } });
    expect(await execute(session, "Ports?").result()).toMatchObject({ status: "completed", text: "That is all." });
    expect(provider.requests).toHaveLength(1);
  });

  it("B40, B111: broken arguments of the report are repaired by one model call, which counts and stands in the log", async () => {
    const broken: ScriptedTurn = { calls: [{ name: researchToolNames.report, argsText: '{"title": "Ports", "sections": ' }] };
    const { provider, session } = led({
      lead: [broken, { text: `Here: ${JSON.stringify(report)}`, usage: { input: 40, output: 20 } }, done],
    });
    const verdicts: unknown[] = [];
    const stream = execute(session, "Ports?");
    for await (const event of stream) if (event.type === "verdict" && event.point === "parse") verdicts.push(event);
    const result = await stream.result();
    expect(result.text).toContain("# Ports");
    expect(result.usage).toMatchObject({ input: 40, output: 20 });
    expect(provider.requests).toHaveLength(3);
    expect(verdicts).toMatchObject([{ hook: "repair-arguments", reason: expect.stringContaining("repaired the arguments") }]);
  });

  it("B40: arguments that do not fit the schema are repaired too, and what cannot be repaired is an error that the model reads", async () => {
    const unfit: ScriptedTurn = { calls: [{ name: researchToolNames.report, args: { title: "" } }] };
    const { provider, session } = led({ lead: [unfit, { text: "I cannot." }, writes, done] });
    expect((await execute(session, "Ports?").result()).text).toContain("# Ports");
    expect(JSON.stringify(provider.requests[2]?.messages.at(-1))).toContain("tool_result");
  });

  it("B41: a tool that takes defaults runs with `{}` where its arguments are no JSON, and the others are errors", async () => {
    const { researchers, session } = led({
      lead: [research("Lisbon?"), writes, done],
      found: [
        {
          calls: [
            { name: researchToolNames.history, argsText: "none" },
            { name: search.name, argsText: "none" },
          ],
        },
        { text: "Yes." },
      ],
    });
    await execute(session, "Ports?").result();
    const results = researchers.requests[1]?.messages.filter((message) => message.role === "tool_result");
    expect(results?.map((message) => "isError" in message && message.isError === true)).toEqual([false, true]);
  });

  it("B42: stores calls and results of the researcher, the questions and the report, and no call of another tool", async () => {
    const other: ScriptedTurn = { calls: [{ name: search.name, args: { query: "of a wrong tool" } }] };
    const { provider, session, facts } = led({ lead: [other, research("Lisbon?"), writes, done], found: [{ text: "Lisbon has one." }] });
    expect((await execute(session, "Ports?").result()).text).toContain("# Ports");
    // The model reads its error in the run.
    expect(JSON.stringify(provider.requests[1]?.messages)).toMatch(/of a wrong tool.*TOOL_UNKNOWN/);
    const stored = JSON.stringify(await facts());
    expect(stored).not.toContain("of a wrong tool");
    expect(stored).toContain("[This result was not stored.]");
    expect(stored).toMatch(/Lisbon\?.*Lisbon has one\..*# Ports/);
    const names = [researchToolNames.researcher, researchToolNames.feedback, researchToolNames.report];
    expect(provider.requests[0]?.tools?.map(({ name }) => name)).toEqual(names);
    expect(session.messages.some((message) => message.role === "tool_result" && JSON.stringify(message).includes("Found x"))).toBe(false);
  });
});

describe("a researcher", () => {
  it("B43: has its tools in every request, may call them in parallel, and ends at the limit of its plan", async () => {
    const looks: ScriptedTurn = { calls: [{ name: search.name, args: { query: "a" } }] };
    const provider = scripted([looks, looks, { text: "Yes." }]);
    const { session } = led({
      lead: [research("Lisbon?"), writes, done],
      options: { researcher: { provider, tools: [search], toolCallsLimit: 2 } },
    });
    expect((await execute(session, "Ports?").result()).status).toBe("completed");
    expect(provider.requests.map(({ tools }) => tools?.length ?? 0)).toEqual([2, 2, 0]);
    expect(provider.requests[0]?.parallelToolCalls).toBe(true);
    expect(JSON.stringify(session.messages)).not.toContain("Found a");
  });

  it("B105: is given the searches that others have made in the same research, and those of no other research", async () => {
    const looks = (query: string): ScriptedTurn => ({ calls: [{ name: search.name, args: { query } }] });
    const asks: ScriptedTurn = { calls: [{ name: researchToolNames.history }] };
    const world = led({
      lead: [research("Lisbon?"), research("Porto?"), writes, done],
      found: [looks("harbours of Lisbon"), { text: "Yes." }, asks, { text: "Yes." }],
    });
    await execute(world.session, "Ports?").result();
    expect(JSON.stringify(world.researchers.requests[3]?.messages)).toContain("harbours of Lisbon");
    expect(JSON.stringify(world.session.messages)).not.toContain(researchToolNames.history);
  });

  it("B105: is given those of other processes, and of before a restart, from the log", async () => {
    const store = memoryStore();
    const looks = (...queries: readonly string[]): ScriptedTurn => ({
      calls: queries.map((query) => ({ name: query === "bad" ? "fails" : search.name, args: { query } })),
    });
    const asks: ScriptedTurn = { calls: [{ name: researchToolNames.history }] };
    const fails = defineTool({
      ...search,
      name: "fails",
      execute: () => {
        throw new Error("No.");
      },
    });
    /** The same session in a process of its own. */
    const processOf = (lead: readonly ScriptedTurn[], found: readonly ScriptedTurn[]) => {
      const researchers = scripted(found);
      const history = searchesInLog(store, { searchTools: [search.name, "fails"] });
      const agent = deepResearchSupervisor({
        provider: scripted(lead),
        researcher: { provider: researchers, tools: [search, fails], searchTools: [search.name, "fails"] },
        history,
        checksCitations: false,
      } as SupervisorOptions);
      return { researchers, session: createSession({ agent, id: "lead", store }) };
    };
    const first = processOf([research("Lisbon?"), writes, done], [looks("harbours of Lisbon", "bad"), { text: "Yes." }]);
    await execute(first.session, "Ports?").result();
    await first.session[Symbol.asyncDispose]();
    const second = processOf([research("Porto?"), writes, done], [asks, { text: "Yes." }]);
    await execute(second.session, "And Porto?").result();
    const listed = second.researchers.requests[1]?.messages.find((message) => message.role === "tool_result");
    expect(JSON.stringify(listed)).toContain('{"searches":["harbours of Lisbon"]}');
  });

  it("B43: does not store its look at earlier searches, and everything else", async () => {
    const provider = scripted([
      { calls: [{ name: researchToolNames.history, args: {} }] },
      { calls: [{ name: search.name, args: { query: "ports" } }] },
      { text: "Yes." },
      { text: "Still." },
    ]);
    const history: SearchHistory = { add: async () => {}, list: async () => ["harbours of Lisbon"] };
    const store = memoryStore();
    const session = createSession({ agent: researcherAgent({ provider, tools: [search], history }), id: "r", store });
    await execute(session, "Ports?").result();
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain("harbours of Lisbon");
    await execute(session, "Sure?").result();
    const stored = JSON.stringify(await store.log.read({ scope: "local", session: "r" }));
    expect(stored).not.toContain("harbours of Lisbon");
    expect(stored).toContain('"query":"ports"');
    expect(JSON.stringify(provider.requests[3]?.messages)).toContain("[This result was not stored.]");
  });

  it("B44, B45: its usage and that of the repair count in the run of the supervisor", async () => {
    const usage = { input: 10, output: 1 };
    const { session } = led({
      lead: [
        { ...research("Lisbon?"), usage },
        { ...writes, usage },
        { ...done, usage },
      ],
      found: [{ text: "Yes.", usage }],
    });
    expect((await execute(session, "Ports?").result()).usage).toMatchObject({ input: 40, output: 4 });
  });

  it("is found again after a restart of the process, and asked once", async () => {
    const store = memoryStore();
    const hang = new Promise<never>(() => {});
    const lead = scripted([research("Lisbon?")]);
    const stuck = deepResearchSupervisor({
      provider: lead,
      researcher: { provider: scripted([{ text: "Yes.", after: hang }]), tools: [search] },
    });
    const first = createSession({ agent: stuck, id: "lead", store });
    const stream = execute(first, "Ports?");
    stream.result().catch(() => {});
    for await (const event of stream) if (event.type === "agent_start") break;
    await first[Symbol.asyncDispose]();

    const later = scripted([writes, done]);
    const researchers = scripted([{ text: "Yes." }]);
    const agent = deepResearchSupervisor({
      provider: later,
      researcher: { provider: researchers, tools: [search] },
      checksCitations: false,
    });
    const session = createSession({ agent, id: "lead", store });
    const result = await resume(session).result();
    expect(result.text).toContain("# Ports");
    expect(researchers.requests).toHaveLength(1);
  });
});

describe("a main thread above a supervisor", () => {
  it("B44: has the report as the answer of a tool, three levels deep, with the usage of all of them", async () => {
    const usage = { input: 10, output: 1 };
    const researcher = { provider: scripted([{ text: "Yes.", usage }]), tools: [search] };
    const supervisor = deepResearchSupervisor({
      provider: scripted([
        { ...research("Lisbon?"), usage },
        { ...writes, usage },
        { ...done, usage },
      ]),
      researcher,
      checksCitations: false,
    });
    const provider = scripted([
      { calls: [{ name: "deep-research", args: { task: "Ports of Portugal?" } }], usage },
      { text: "Here it is.", usage },
    ]);
    const agent = mainThreadAgent({ provider, tools: [agentTool({ agent: supervisor })] });
    const result = await execute(createSession({ agent, store: memoryStore() }), "Ports?").result();
    expect(result).toMatchObject({ status: "completed", text: "Here it is.", usage: { input: 60, output: 6 } });
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain("## Lisbon");
  });

  it("B50: the prompt that a session begins with is that of its own agent alone, and no researcher has it", async () => {
    const lead = scripted([research("Lisbon?"), writes, done]);
    const found = scripted([{ text: "Yes." }]);
    const agent = deepResearchSupervisor({ provider: lead, researcher: { provider: found, tools: [search] }, checksCitations: false });
    const session = createSession({ agent, store: memoryStore(), prompt: "Answer as a pirate." });
    await execute(session, "Ports?").result();
    expect(systemText(lead.requests[0]?.system)).toContain("Answer as a pirate.");
    expect(systemText(found.requests[0]?.system)).not.toContain("pirate");
  });
});
