import { createAgent, createSession, defineTool, execute } from "@loopwright/core";
import { memoryStore, scripted, seededIds } from "@loopwright/core/memory";
import {
  InMemorySpanExporter,
  ParentBasedSampler,
  type Sampler,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { describe, expect, it } from "vitest";
import { spanIds, traceObserver } from "../src/opentelemetry/index.ts";

const given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const usage = { input: 100, cacheRead: 50, output: 7 };

function tracing({ sampler, ...options }: { readonly withContent?: boolean; readonly sampler?: Sampler } = {}) {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({
    idGenerator: spanIds,
    ...(sampler ? { sampler } : {}),
    spanProcessors: [new SimpleSpanProcessor({ exporter } as never)],
  });
  return { exporter, ...traceObserver({ tracerProvider, ...options }) };
}

describe("spans of the real SDK", () => {
  it("A52: are one tree with the ids of the log: run, model calls, tools, and the run of a child below its tool", async () => {
    const { exporter, observer } = tracing();
    const child = createAgent({ name: "child", provider: scripted([{ text: "SECRET-CHILD", usage }]) });
    const delegate = defineTool({
      name: "delegate",
      description: "Delegates.",
      parameters: { type: "object" },
      execute: async (_, { child: start }) => (await start("one", child, "SECRET-TASK")).text,
    });
    const provider = scripted(
      [
        { calls: [{ name: "delegate" }], usage },
        { text: "SECRET-ANSWER", usage },
      ],
      { name: "gemini", model: "small" },
    );
    const store = memoryStore();
    const agent = createAgent({ name: "helper", provider, tools: [delegate] });
    const session = createSession({ agent, id: "s1", store, observers: [observer], access: { scope: "team", user: "anne" } });
    await execute(session, "SECRET-QUESTION", { trace: given }).result();
    const spans = exporter.getFinishedSpans();
    const named = (name: string) => spans.find((span) => span.name === name);
    const runId = (await store.log.read({ scope: "team", session: "s1" })).flatMap((fact) =>
      fact.type === "run.started" ? [fact.runId] : [],
    )[0];
    const run = named("invoke_agent helper");
    expect(run?.parentSpanContext?.spanId).toBe("00f067aa0ba902b7");
    expect(new Set(spans.map((span) => span.spanContext().traceId))).toEqual(new Set(["4bf92f3577b34da6a3ce929d0e0e4736"]));
    const parentOf = (name: string) => named(name)?.parentSpanContext?.spanId;
    for (const name of ["chat small", "execute_tool delegate"]) expect(parentOf(name)).toBe(run?.spanContext().spanId);
    expect(parentOf("invoke_agent child")).toBe(named("execute_tool delegate")?.spanContext().spanId);
    expect(run?.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "helper",
      "gen_ai.conversation.id": "s1",
      "loopwright.run.id": runId,
    });
    expect(named("chat small")?.attributes).toMatchObject({
      ...{
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "small",
        "gen_ai.response.finish_reasons": ["tool_calls"],
      },
      ...{ "gen_ai.usage.input_tokens": 150, "gen_ai.usage.cache_read.input_tokens": 50, "gen_ai.usage.output_tokens": 7 },
    });
    expect(named("execute_tool delegate")?.attributes).toMatchObject({
      "gen_ai.tool.name": "delegate",
      "gen_ai.tool.call.id": `${runId}.1.0`,
    });
    expect(JSON.stringify(spans.map(({ name, attributes, status, events }) => [name, attributes, status, events]))).not.toContain("SECRET");
  });

  it("A52: of a run without a trace of the caller are all sampled or none, at the rate of the sampler, on every node alike", async () => {
    const sampled = async (node: ReturnType<typeof tracing>): Promise<readonly string[]> => {
      const look = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "A door." });
      for (let i = 0; i < 60; i++) {
        const provider = scripted([{ calls: [{ name: "look" }] }, { text: "Hi." }], { model: "small" });
        const agent = createAgent({ name: "helper", provider, tools: [look] });
        await execute(createSession({ agent, id: `s${i}`, observers: [node.observer], ids: seededIds(i) }), "Hi").result();
      }
      const spans = node.exporter.getFinishedSpans();
      const traces = Map.groupBy(spans, (span) => span.spanContext().traceId);
      for (const [, tree] of traces)
        expect(tree.map(({ name }) => name).sort()).toEqual(["chat small", "chat small", "execute_tool look", "invoke_agent helper"]);
      return [...traces.keys()].sort();
    };
    const quarter = (): Sampler => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.25) });
    const traces = await sampled(tracing({ sampler: quarter() }));
    expect(traces.length).toBeGreaterThan(3);
    expect(traces.length).toBeLessThan(30);
    expect(await sampled(tracing({ sampler: quarter() }))).toEqual(traces);
  });

  it("have content where that is asked for", async () => {
    const { exporter, observer } = tracing({ withContent: true });
    const agent = createAgent({ name: "helper", provider: scripted([{ text: "The answer." }]) });
    await execute(createSession({ agent, observers: [observer] }), "Hi").result();
    expect(JSON.stringify(exporter.getFinishedSpans().map(({ attributes }) => attributes))).toContain("The answer.");
  });

  it("of a run that another process takes over hang from the same span, with and without a trace of the caller", async () => {
    for (const trace of [given, undefined]) {
      const store = memoryStore();
      const ask = defineTool({ name: "ask_person", description: "Asks.", parameters: { type: "object" } });
      const agent = createAgent({
        name: "helper",
        provider: scripted([{ calls: [{ name: "ask_person" }] }, { text: "Thanks." }], { model: "small" }),
        tools: [ask],
      });
      const [one, other] = [tracing(), tracing()];
      const options = { agent, id: "s1", store };
      const first = createSession({ ...options, observers: [one.observer] });
      await execute(first, "Hi", trace === undefined ? {} : { trace }).result();
      await first[Symbol.asyncDispose]();
      const second = createSession({ ...options, observers: [other.observer] });
      await second.ready();
      await (await second.answer(second.pendingToolCalls[0]?.callKey ?? "", "Yes.")).stream().result();
      const [call] = one.exporter.getFinishedSpans();
      const later = other.exporter.getFinishedSpans();
      const run = later.find(({ name }) => name === "invoke_agent helper");
      expect([call?.name, later.find(({ name }) => name === "chat small")?.parentSpanContext?.spanId]).toEqual([
        "chat small",
        run?.spanContext().spanId,
      ]);
      expect(call?.parentSpanContext?.spanId).toBe(run?.spanContext().spanId);
      expect(call?.spanContext().traceId).toBe(run?.spanContext().traceId);
    }
  });

  it("of what fails have the code and no text of the error", async () => {
    const { exporter, observer } = tracing();
    const broken = defineTool({
      name: "broken",
      description: "Breaks.",
      parameters: { type: "object" },
      execute() {
        throw new Error("SECRET-ERROR");
      },
    });
    const agent = createAgent({
      name: "helper",
      provider: scripted([{ calls: [{ name: "broken" }] }, { error: "MODEL_REFUSED" }]),
      tools: [broken],
    });
    await execute(createSession({ agent, observers: [observer] }), "Hi").result();
    const failed = exporter.getFinishedSpans().map(({ name, status, attributes }) => [name, status.code, attributes["error.type"]]);
    expect(failed).toContainEqual(["execute_tool broken", 2, expect.any(String)]);
    expect(failed).toContainEqual(["chat scripted-1", 2, "MODEL_REFUSED"]);
    expect(JSON.stringify(exporter.getFinishedSpans().map(({ attributes, status, events }) => [attributes, status, events]))).not.toContain(
      "SECRET",
    );
  });

  it("send their `traceparent` to the hosts that are allowed, and to no other", async () => {
    const { observer, tracedFetch } = tracing();
    const sent: (string | null)[] = [];
    const fetch = tracedFetch(["gateway.example:8080"], async (input, init) => {
      sent.push(new Request(input, init).headers.get("traceparent"));
      return new Response();
    });
    const look = defineTool({
      name: "look",
      description: "Looks.",
      parameters: { type: "object" },
      async execute() {
        await fetch("http://gateway.example:8080/v1", { headers: { "X-Own": "1" } });
        await fetch("http://vendor.example/v1");
        return "Seen.";
      },
    });
    const agent = createAgent({ name: "helper", provider: scripted([{ calls: [{ name: "look" }] }, { text: "Ok." }]), tools: [look] });
    await execute(createSession({ agent, observers: [observer] }), "Hi", { trace: given }).result();
    await fetch("http://gateway.example:8080/v1");
    expect(sent).toEqual([expect.stringMatching(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/), null, null]);
  });
});
