import { defineTool, type Tool } from "@loopwright/core";
import { manualClock } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { scriptedAgent, testServer } from "../test-server.ts";
import { framesOf } from "./frames-of.ts";

const clock = () => manualClock();

/** A tool of which each run reports progress. */
const notifier = (run: Parameters<typeof defineTool>[0]["execute"]): Tool =>
  defineTool({ name: "count", description: "Counts.", parameters: z.object({}), ...(run ? { execute: run } : {}) });

const answers = (...names: readonly string[]) => [{ calls: names.map((name) => ({ name })) }, { text: "Done." }];

describe("H06: a tool that reports its progress a million times", () => {
  it("is published at most twenty times a second for each step, its first and its last report included", async () => {
    const time = clock();
    const tool = notifier((_, { progress }) => {
      const steps = [progress("rows"), progress("pages")];
      for (let ms = 0; ms < 1_000; ms += 1) {
        for (let turn = 0; turn < 500; turn += 1) for (const step of steps) step.update(`${ms * 500 + turn + 1} of 500000`);
        time.advance(1);
      }
      return "ok";
    });
    const { send } = testServer({ clock: time, agents: [scriptedAgent(answers("count"), { tools: [tool] })] });
    const response = await send("/api/agent/execute", { json: { context: {}, input: "Count" } });
    const notified = (await framesOf(response)).filter(({ event }) => event === "progress").map(({ data }) => data);
    for (const id of ["1", "2"]) {
      const own = notified.filter((data) => data["id"] === id);
      // One at the start, one at the end of each of twenty parts of the second, one for the end of the step.
      expect(own).toHaveLength(22);
      expect(own[0]).toMatchObject({ state: "open", title: id === "1" ? "rows" : "pages" });
      expect(own.at(-1)).toMatchObject({ state: "done", title: "500000 of 500000" });
    }
  });

  it("leaves in the log its last words alone, of two hundred steps at most, and nothing in the memory of the stream", async () => {
    const tool = notifier((_, { progress }) => {
      for (let count = 0; count < 1_000_000; count += 1) progress(`step ${count}`).end();
      return "ok";
    });
    const server = testServer({
      clock: clock(),
      agents: [scriptedAgent(answers("count"), { tools: [tool] })],
      limits: { recentEvents: 16 },
    });
    await server.ask("/api/sessions", { json: { id: "a" } });
    await server.ask("/api/sessions/a/messages", { json: { input: "Count" } });
    await (await server.send("/api/sessions/a/events")).text();
    const { body } = await server.ask<{ events: { type: string; progress?: unknown[] }[] }>("/api/sessions/a/events", {
      headers: { Accept: "application/json" },
    });
    expect(body.events.map(({ type }) => type)).not.toContain("progress");
    expect(JSON.stringify(body).length).toBeLessThan(64 * 1024);
    expect(body.events.filter(({ type }) => type === "tool_execution_end")).toHaveLength(1);
  });

  it("does so while a reader takes nothing, and no more than the limit waits for that reader", async () => {
    const time = clock();
    const queueBytes = 16 * 1024;
    const tool = notifier((_, { progress }) => {
      const step = progress("rows");
      for (let ms = 0; ms < 60_000; ms += 50) {
        step.update("x".repeat(1_000));
        time.advance(50);
      }
      return "ok";
    });
    const agents = [scriptedAgent(answers("count"), { tools: [tool] })];
    const { ask, send, server } = testServer({ clock: time, agents, limits: { streamQueueBytes: queueBytes, streamStallMs: 120_000 } });
    await ask("/api/sessions", { json: { id: "a" } });
    const slow = await send("/api/sessions/a/events?from=now");
    const fast = await send("/api/sessions/a/events?from=now");
    const rest = readUntilRest(fast);
    await ask("/api/sessions/a/messages", { json: { input: "Count" } });
    await rest;
    await server.close();
    const waited = (await slow.text()).length;
    expect(waited).toBeGreaterThan(0);
    expect(waited).toBeLessThan(4 * queueBytes);
  });
});

async function readUntilRest(response: Response): Promise<void> {
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let tail = "";
  let isBegun = false;
  while (!(isBegun && tail.includes("event: rest"))) {
    const { value, done } = await reader.read();
    if (done) throw new Error("The stream ended before the session rested.");
    tail = `${tail}${value}`.slice(-4_000);
    isBegun ||= tail.includes("run_start");
    if (!isBegun) tail = tail.replace("event: rest", "");
  }
  await reader.cancel();
}
