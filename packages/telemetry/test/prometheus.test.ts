import { createAgent, createSession, defineTool, execute } from "@loopwright/core";
import { fixedPrices, manualClock, scripted } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { prometheusMetrics } from "../src/prometheus/index.ts";
import { observed, timed } from "./observed-run.ts";
import { anne, operator, telemetryServer } from "./telemetry-server.ts";

const usage = { input: 100, cacheRead: 900, output: 10 };

/** Lines that are neither help nor type, by name and labels. */
const valuesOf = (text: string): Map<string, number> =>
  new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );

it("A52: a scrape has turns, tokens, cost, tools, runs and histograms of latency", async () => {
  const clock = manualClock();
  const metrics = prometheusMetrics();
  const look = defineTool({ name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "A door." });
  const prices = fixedPrices({ small: { inputUsd: 1, outputUsd: 1, cacheReadUsd: 1 } });
  const provider = timed(
    scripted(
      [
        { text: "I look.", calls: [{ name: "look" }], usage },
        { text: "A door.", usage },
      ],
      { model: "small" },
    ),
    clock,
    () => ({ firstMs: 300, restMs: 900 }),
  );
  await observed({ provider, prices, tools: [look] }, metrics.observers, clock).run("s1");
  const values = valuesOf(metrics.text());
  const model = 'provider="scripted",model="small"';
  expect(Object.fromEntries(values)).toMatchObject({
    [`loopwright_turns_total{${model},stop="tool_calls"}`]: 1,
    [`loopwright_turns_total{${model},stop="stop"}`]: 1,
    [`loopwright_tokens_total{${model},kind="input"}`]: 200,
    [`loopwright_tokens_total{${model},kind="cache_read"}`]: 1_800,
    [`loopwright_tokens_total{${model},kind="output"}`]: 20,
    'loopwright_tool_calls_total{tool="look",side="server",outcome="ok"}': 1,
    'loopwright_runs_total{status="completed"}': 1,
    [`loopwright_turn_duration_seconds_bucket{${model},le="1"}`]: 0,
    [`loopwright_turn_duration_seconds_bucket{${model},le="2.5"}`]: 2,
    [`loopwright_turn_duration_seconds_sum{${model}}`]: 2.4,
    [`loopwright_time_to_first_token_seconds_bucket{${model},le="0.5"}`]: 2,
    [`loopwright_time_to_first_token_seconds_count{${model}}`]: 2,
  });
  expect(values.get(`loopwright_cost_usd_total{${model}}`)).toBeCloseTo(0.00202, 9);
  expect(metrics.text()).not.toContain("team");
});

it("A52: no metric has more series than its limit, whatever names models and tools have; the rest counts as `other`", async () => {
  const metrics = prometheusMetrics({ seriesMax: 10, withScope: true });
  for (let i = 0; i < 40; i++) {
    const provider = scripted([{ text: "Hi.", usage }], { model: `model-${i}"\n{}` });
    await observed({ provider }, metrics.observers).run(`s${i}`);
  }
  const text = metrics.text();
  const turns = text.split("\n").filter((line) => line.startsWith("loopwright_turns_total"));
  expect(turns).toHaveLength(10);
  expect(turns.at(-1)).toBe('loopwright_turns_total{scope="other",provider="other",model="other",stop="other"} 31');
  expect(turns[0]).toBe('loopwright_turns_total{scope="team",provider="scripted",model="model-0\\"\\n{}",stop="stop"} 1');
  expect([...valuesOf(text)].filter(([name]) => name.startsWith("loopwright_turns_total")).reduce((sum, [, value]) => sum + value, 0)).toBe(
    40,
  );
});

it("A52: `/metrics` of a server has them for an operator, and no caller of a scope sees the numbers of others", async () => {
  const metrics = prometheusMetrics({ withScope: true });
  const made = (principal: typeof operator) => telemetryServer({ observers: metrics.observers, metrics: () => metrics.text(), principal });
  await made(anne).ask("/api/agent/execute", { input: "Hi", context: {} });
  expect((await made(operator).ask("/metrics")).text).toContain('loopwright_runs_total{scope="team",status="completed"} 1');
  const own = (await made(anne).ask("/metrics")).text;
  expect(own).toContain("loopwright_requests_total");
  expect(own).not.toContain("loopwright_runs_total");
});

it("A52: models that users bring with their own keys and tools that clients declare fill no metric: they share a label", async () => {
  const metrics = prometheusMetrics({ seriesMax: 20, clientTools: ["ask_person"] });
  for (let i = 0; i < 30; i++) {
    const tool = i === 0 ? "ask_person" : `tool-${i}`;
    const ask = defineTool({ name: tool, description: "Asks.", parameters: { type: "object" } });
    const own = scripted(
      [
        { calls: [{ name: tool }], usage },
        { text: "Hi.", usage },
      ],
      { model: `model-${i}` },
    );
    const { clock, store } = observed({ provider: own }, metrics.observers);
    const agent = createAgent({ name: "helper", provider: own, tools: [ask] });
    const access = { scope: "team", user: "anne" };
    const resolveModel = () => ({ provider: own, model: `model-${i}`, keyOwner: "user" as const });
    const session = createSession({ agent, id: `s${i}`, store, clock, resolveModel, observers: metrics.observers, access });
    await execute(session, "Hi").result();
    await (await session.answer(session.pendingToolCalls[0]?.callKey ?? "", "Yes.")).stream().result();
  }
  await observed({ provider: scripted([{ text: "Hi.", usage }], { model: "small" }) }, metrics.observers).run("last");
  const values = valuesOf(metrics.text());
  expect(values.get('loopwright_turns_total{provider="own",model="own",stop="stop"}')).toBe(30);
  expect(values.get('loopwright_tokens_total{provider="own",model="own",kind="output"}')).toBe(600);
  expect(values.get('loopwright_turns_total{provider="scripted",model="small",stop="stop"}')).toBe(1);
  expect(values.get('loopwright_tool_calls_total{tool="client",side="client",outcome="ok"}')).toBe(29);
  expect(values.get('loopwright_tool_calls_total{tool="ask_person",side="client",outcome="ok"}')).toBe(1);
  expect(metrics.text()).not.toMatch(/model-\d|tool-\d/);
});
