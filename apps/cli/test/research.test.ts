import {
  deepResearchSupervisor,
  memorySearchHistory,
  pagesOfResearch,
  type Report,
  researchToolNames,
  type SupervisorOptions,
  uncitedClaims,
} from "@loopwright/agents-research";
import {
  type AgentEvent,
  createSession,
  execute,
  type Message,
  type ModelChunk,
  type ModelProvider,
  type ModelRequest,
  type Tool,
} from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import { offline } from "@loopwright/providers-scripted";
import { searxng, webFetch, webSearch } from "@loopwright/tools-web";
import { generateWeb, type ServedWeb, serveWeb, type WebQuestion } from "@loopwright/tools-web/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAnswerPrinter } from "../src/commands/answer-printer.ts";

type Change = (request: ModelRequest, chunks: AsyncIterable<readonly ModelChunk[]>) => AsyncIterable<readonly ModelChunk[]>;

/** The offline model, with what it was asked and what it reported; `change` makes another model of it. */
function watched(change: Change = (_, chunks) => chunks) {
  const model = offline({ pace: 0 });
  const requests: ModelRequest[] = [];
  const spent = { input: 0, output: 0 };
  const provider: ModelProvider = {
    ...model,
    async *stream(request, io) {
      requests.push(request);
      for await (const chunks of change(request, model.stream(request, io))) {
        for (const chunk of chunks) {
          if (chunk.type !== "usage") continue;
          spent.input += chunk.usage.input ?? 0;
          spent.output += chunk.usage.output ?? 0;
        }
        yield chunks;
      }
    },
  };
  return { provider, requests, spent };
}

interface World {
  readonly served: ServedWeb;
  readonly model?: ReturnType<typeof watched>;
  readonly options?: Partial<SupervisorOptions>;
  readonly session?: string;
}

function research({ served, model = watched(), options = {}, session: id = "lead" }: World) {
  const { provider, requests, spent } = model;
  const web = webFetch({ privateOrigins: [served.origin], urls: "known", replay: "once" });
  const tools = [webSearch({ provider: searxng({ baseUrl: served.origin }) }), web] as readonly Tool[];
  const agent = deepResearchSupervisor({ provider, researcher: { provider, tools }, ...options } as SupervisorOptions);
  return { session: createSession({ agent, id, store: memoryStore() }), requests, spent };
}

async function webOf(seed: number) {
  const web = generateWeb({ seed });
  const served = await serveWeb(web);
  onTestFinished(() => served.close());
  return { ...web, served };
}

/** What `ask` prints of the events on a terminal. */
function printed(events: readonly AgentEvent[], text: string): string {
  let shown = "";
  const stream = { isTTY: true, columns: 200, rows: 50, write: (written: string) => (shown += written) };
  const printer = createAnswerPrinter({ stdout: stream, stderr: stream, flags: { plain: true, color: false } });
  for (const event of events) printer.push(event);
  printer.end(text);
  return shown;
}

/** The report in the conversation. */
function reportIn(messages: readonly Message[]): Report {
  const message = messages.findLast((one) => one.role === "tool_result" && one.toolName === researchToolNames.report);
  return (message as { readonly details?: unknown } | undefined)?.details as Report;
}

/** What every finished research holds, checked against the server of the web and the books of the model. */
function check(question: WebQuestion, { served, messages }: { readonly served: ServedWeb; readonly messages: readonly Message[] }): void {
  const report = reportIn(messages);
  const claims = report.sections.flatMap((section) => section.claims);
  for (const { statement, path } of question.facts) {
    const url = `${served.origin}${path}`;
    const citations = [{ url, title: expect.any(String), quote: statement }];
    expect(claims).toContainEqual({ text: statement, sources: [url], citations });
  }
  const fetched = new Set(served.fetched.map((path) => `${served.origin}${path}`));
  expect(claims.flatMap(({ sources }) => sources).filter((url) => !fetched.has(url))).toEqual([]);
  expect(uncitedClaims(report, pagesOfResearch(messages, researchToolNames.researcher))).toEqual([]);
  expect(new Set(served.fetched).size).toBe(served.fetched.length);
}

const all = (events: readonly AgentEvent[], type: AgentEvent["type"]): readonly number[] =>
  events.flatMap((event, at) => (event.type === type ? [at] : []));

describe("a deep research on the offline model, against generated webs", () => {
  test.each([1, 2, 3])("finds every fact of three questions, drawn by seed %i, and cites the page of each", async (seed) => {
    const { questions, pages, served } = await webOf(seed);
    expect([questions.length, pages.length / 3]).toEqual([3, expect.toSatisfy((count: number) => count >= 30)]);
    for (const [at, question] of questions.entries()) {
      const { session, spent } = research({ served, session: `lead-${at}` });
      const events: AgentEvent[] = [];
      const stream = execute(session, question.question);
      for await (const event of stream) events.push(event);
      const { status, text, usage } = await stream.result();
      expect(status).toBe("completed");
      check(question, { served, messages: session.messages });
      for (const { value } of question.facts) expect(text).toContain(value);
      const terminal = printed(events, text);
      expect(terminal).toContain("Sources");
      expect(terminal).not.toMatch(/thrown away|replaced|Done\./);
      // Three researchers beside one another, after a plan.
      const [starts, ends] = [all(events, "agent_start"), all(events, "agent_end")];
      expect(starts.length).toBe(3);
      expect(Math.max(...starts)).toBeLessThan(Math.min(...ends));
      expect(JSON.stringify(session.messages[1])).toContain("Plan:");
      // The bill is what the model reported, over the whole tree.
      expect({ input: usage?.input, output: usage?.output }).toEqual(spent);
    }
    expect(new Set(served.queries).size).toBe(served.queries.length);
  });

  test("facts of another seed give another report", async () => {
    const texts: string[] = [];
    for (const seed of [1, 2]) {
      const { questions, served } = await webOf(seed);
      texts.push((await execute(research({ served }).session, questions[0]?.question ?? "").result()).text);
    }
    expect(texts[0]).not.toBe(texts[1]);
  });

  test("B104: a vague question is asked about first, and the answer decides what is researched", async () => {
    const { questions, served } = await webOf(4);
    const [question] = questions;
    if (!question) throw new Error("There is no question.");
    const { session } = research({ served });
    const waiting = await execute(session, "The lighthouse.").result();
    expect(waiting.status).toBe("awaiting_tool_execution");
    expect(served.fetched).toEqual([]);
    const [call] = waiting.pendingToolCalls ?? [];
    expect(call?.args["questions"]).toHaveLength(2);
    const result = await execute(session, [{ role: "tool_result", toolCallId: call?.callKey ?? "", content: question.question }]).result();
    expect(result.status).toBe("completed");
    check(question, { served, messages: session.messages });
  });

  test("B38: at the limit of researchers the report is forced, with what was found", async () => {
    const { questions, served } = await webOf(5);
    const [question] = questions;
    if (!question) throw new Error("There is no question.");
    const { session, requests } = research({ served, options: { toolCallsLimit: 3 } });
    expect((await execute(session, question.question).result()).status).toBe("completed");
    expect(requests.filter(({ toolChoice }) => JSON.stringify(toolChoice)?.includes(researchToolNames.report))).toHaveLength(1);
    check(question, { served, messages: session.messages });
  });

  test("B36, B39: a model that calls nothing is asked again, the third time a cheaper one, and the research finishes", async () => {
    const { questions, served } = await webOf(6);
    const [question] = questions;
    if (!question) throw new Error("There is no question.");
    let idle = 2;
    const model = watched(async function* (request, chunks) {
      if (idle > 0 && request.tools?.some(({ name }) => name === researchToolNames.researcher)) {
        idle -= 1;
        yield [
          { type: "text", index: 0, delta: "Let me think." },
          { type: "block-end", index: 0 },
          { type: "end", stopReason: "stop", raw: "stop", model: request.model },
        ];
      } else yield* chunks;
    });
    const { session, requests } = research({ served, model, options: { cheaperModel: "offline-small" } });
    expect((await execute(session, question.question).result()).status).toBe("completed");
    const lead = requests.filter(({ tools }) => tools?.some(({ name }) => name === researchToolNames.researcher));
    expect(lead.map((request) => request.model).slice(0, 3)).toEqual(["offline-demo", "offline-demo", "offline-small"]);
    check(question, { served, messages: session.messages });
  });

  test("B40, B111: a report whose arguments are cut off is repaired by one more model call, which is on the bill", async () => {
    const { questions, served } = await webOf(7);
    const [question] = questions;
    if (!question) throw new Error("There is no question.");
    let cuts = 1;
    const model = watched(async function* (_, chunks) {
      let isOpen = false;
      let held: Extract<ModelChunk, { readonly type: "call-args" }> | undefined;
      for await (const batch of chunks)
        for (const chunk of batch) {
          if (chunk.type === "call-start") isOpen = cuts > 0 && chunk.name === researchToolNames.report;
          // The end of the arguments is lost.
          if (held) yield [chunk.type === "call-end" ? { ...held, delta: held.delta.slice(0, -2) } : held];
          held = isOpen && chunk.type === "call-args" ? chunk : undefined;
          if (!held) yield [chunk];
        }
      if (isOpen) cuts -= 1;
    });
    const { session, requests, spent } = research({ served, model });
    const { usage } = await execute(session, question.question).result();
    expect(requests.filter(({ messages }) => JSON.stringify(messages).includes("These arguments for the tool"))).toHaveLength(1);
    expect({ input: usage?.input, output: usage?.output }).toEqual(spent);
    check(question, { served, messages: session.messages });
  });

  test("B105: what another researcher has searched for is not searched for again", async () => {
    const { questions, served } = await webOf(8);
    const [question] = questions;
    if (!question) throw new Error("There is no question.");
    const history = memorySearchHistory();
    const query = `height of the ${question.subject}`;
    await history.add("lead", query);
    const { session } = research({ served, options: { history } });
    await execute(session, question.question).result();
    expect([served.queries.includes(query), served.queries.length]).toEqual([false, 5]);
    check(question, { served, messages: session.messages });
    expect(await history.list("lead")).toHaveLength(6);
  });
});
