import { createAgent, defineTool, type Tool } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { describeFailure, runSeeds, simulate } from "../src/index.ts";

describe("the runtime", () => {
  it("keeps every promise in calm weather", async () => {
    const { failures, figures } = await runSeeds({ from: 1, count: 25, calm: true, stormMs: 8_000 });
    expect(failures.map(describeFailure)).toEqual([]);
    expect(figures.crashes).toBe(0);
  });

  it.each([
    [49, "a session that could not be opened once was forgotten"],
    [11, "a sweep left out a session whose owner died"],
    [28, "a session was never idle where its log was polled"],
    [53, "a worker took what another process held"],
    [10_000_358, "a hint was not passed to a session whose claim was refused before"],
    [10_500_997, "the checker left out the time of a hook during a hand-over"],
    [10_501_210, "the checker counted a hand-over as a failure of the model"],
    [10_000_925, "a session waited for the only place of a worker"],
  ])("seed %d, which once failed because %s, finds nothing", async (seed) => {
    const report = await simulate({ seed });
    expect(report.findings, describeFailure(report)).toEqual([]);
  });
});

describe("a seed", () => {
  it("gives the same history again, to the last request", async () => {
    for (const seed of [3, 17, 40]) {
      const first = await simulate({ seed });
      const second = await simulate({ seed });
      expect(second).toEqual(first);
    }
  });

  it("gives another history than its neighbour", async () => {
    expect((await simulate({ seed: 3 })).traceHash).not.toBe((await simulate({ seed: 4 })).traceHash);
  });

  it("reports what it decided, and how to run it again", async () => {
    const report = await simulate({ seed: 5, nodes: 2, trace: true });
    expect(report.options.roles).toHaveLength(2);
    expect(report.trace.length).toBeGreaterThan(50);
    expect(report.replay).toContain('"seed":5,"nodes":2');
  });
});

describe("an agent of one's own", () => {
  const ran: string[] = [];
  const order = defineTool({
    name: "order",
    description: "Orders a book.",
    parameters: {
      type: "object",
      properties: { title: { type: "string", minLength: 3 }, copies: { type: "integer", minimum: 1 } },
      required: ["title", "copies"],
    },
    execute: async (args) => {
      await new Promise((resolve) => setImmediate(resolve));
      ran.push(String(args["title"]));
      return { ordered: args["copies"] ?? 0 };
    },
  }) as Tool;
  const agent = createAgent({ name: "bookseller", provider: scripted([]), tools: [order] });

  it("is simulated with its own tools, which are run for real", async () => {
    const { failures, figures } = await runSeeds({ from: 1, count: 15, agent, texts: ["Order me a book.", "Two of them, please."] });
    expect(failures.map(describeFailure)).toEqual([]);
    expect(ran.length).toBeGreaterThan(10);
    expect(ran.length).toBeLessThanOrEqual(figures.toolStarts);
    expect(figures.lateWork).toBe(0);
  });

  it("gives the same history again although its tools wait for real things", async () => {
    const once = await simulate({ seed: 2, agent });
    expect((await simulate({ seed: 2, agent })).traceHash).toBe(once.traceHash);
  });

  it("may have a model that answers as a test wants", async () => {
    const report = await simulate({
      seed: 1,
      agent,
      calm: true,
      sessions: 1,
      clientsPerSession: 1,
      stormMs: 1_000,
      model: ({ messages }) =>
        messages.at(-1)?.role === "user"
          ? { calls: [{ name: "order", args: { title: "Moby-Dick", copies: 1 } }] }
          : { text: "It is ordered." },
    });
    expect(report.findings).toEqual([]);
    expect(ran).toContain("Moby-Dick");
  });
});
