import type { Tool } from "@loopwright/core";
import { describe, expect, it } from "vitest";
import { call, end, type Frame, ledAgent, openScene, text } from "./stream-scene.ts";

const adder: Tool = { name: "add", description: "Adds.", parameters: { type: "object" }, execute: () => "3" };
const kindOf = ({ event, data }: Frame): string => [event, data["status"] ?? data["text"]].filter((one) => one !== undefined).join(" ");

describe("the dialect of notifications", () => {
  it("A06: encodes a run with a tool in its kinds, in a legal order", async () => {
    const led = ledAgent("led", [adder]);
    const scene = await openScene([led.agent], { s: "led" });
    const watching = await scene.watch();
    await scene.send("s", "Add");
    led.say(text("Let me see."), ...call("add"));
    await watching.got(8);
    led.say(text("It is "));
    await watching.got(9);
    led.say(text("3."), end);
    await watching.got(12);
    expect(watching.frames.map(kindOf)).toEqual([
      "AITaskStatusChanged Pending",
      "AITaskStatusChanged Running",
      "AIMessageDelta Let me see.",
      "AIMessageComplete Let me see.",
      "AITaskStatusChanged ToolCalling",
      "AIToolCallStarted",
      "AIToolCallCompleted",
      "AITaskStatusChanged Running",
      "AIMessageDelta It is ",
      "AIMessageDelta 3.",
      "AIMessageComplete It is 3.",
      "AITaskStatusChanged Completed",
    ]);
    expect(watching.frames.every(({ data }) => data["conversationId"] === "s" && typeof data["taskId"] === "string")).toBe(true);
    expect(new Set(watching.frames.map(({ data }) => data["taskId"])).size).toBe(1);
    await watching.end();
    await scene.server.close();
  });

  it("A06: reports a failed run exactly once, as failed", async () => {
    const led = ledAgent("led");
    const scene = await openScene([led.agent], { s: "led" });
    const watching = await scene.watch();
    await scene.send("s", "Fail");
    led.say(text("Well "));
    led.fail();
    await watching.got(5);
    const failures = watching.frames.filter(({ event }) => event === "AIStreamError").map(({ data }) => data);
    expect(failures).toEqual([expect.objectContaining({ code: "MODEL_REFUSED" })]);
    expect(watching.frames.at(-1)?.data).toMatchObject({ status: "Failed" });
    await watching.end();
    await scene.server.close();
  });

  it("A12: keeps two conversations that run at once on one connection apart, to the last letter", async () => {
    const agents = { left: ledAgent("left"), right: ledAgent("right") };
    const scene = await openScene([agents.left.agent, agents.right.agent], { left: "left", right: "right" });
    const watching = await scene.watch();
    const tasks = { left: await scene.send("left", "Speak"), right: await scene.send("right", "Speak") };
    await watching.got(4);
    for (const [at, word] of ["a ", "b ", "c ", "d "].entries())
      for (const side of ["left", "right"] as const) {
        agents[side].say(text(`${side} ${word}`), ...(at === 3 ? [end] : []));
        await watching.got(watching.frames.length + 1);
      }
    await expect.poll(() => watching.frames.filter(({ event }) => event === "AIMessageComplete").length).toBe(2);
    const deltas = watching.frames.filter(({ event }) => event === "AIMessageDelta").map(({ data }) => data);
    expect(deltas.map(({ conversationId }) => conversationId)).toEqual(Array.from({ length: 4 }, () => ["left", "right"]).flat());
    for (const side of ["left", "right"] as const) {
      const own = deltas.filter(({ conversationId }) => conversationId === side);
      const whole = watching.frames.find(({ event, data }) => event === "AIMessageComplete" && data["conversationId"] === side);
      expect(own.map((data) => data["text"]).join("")).toBe(whole?.data["text"]);
      expect(new Set(own.map(({ taskId }) => taskId))).toEqual(new Set([tasks[side].runId]));
    }
    await watching.end();
    await scene.server.close();
  });

  it("names the task of an answer that began before the stream was opened", async () => {
    const led = ledAgent("led");
    const scene = await openScene([led.agent], { s: "led" });
    const early = await scene.watch();
    const { runId } = await scene.send("s", "Tell me");
    led.say(text("Once "));
    await early.got(3);
    await early.end();
    const watching = await scene.watch();
    led.say(text("upon"));
    await watching.got(1);
    expect(watching.frames.map(({ data }) => data)).toEqual([{ conversationId: "s", taskId: runId, text: "upon" }]);
    await watching.end();
    await scene.server.close();
  });

  it("A10: gives what the product publishes its own name", async () => {
    const scene = await openScene([ledAgent("led").agent], {});
    const watching = await scene.watch();
    scene.server.notify("local", { type: "job_progress", data: { share: 1 } });
    scene.server.notify("local", { type: "refresh" });
    await watching.got(2);
    expect(watching.frames).toEqual([
      { event: "JobProgress", data: { type: "job_progress", data: { share: 1 } } },
      { event: "Refresh", data: { type: "refresh" } },
    ]);
    await watching.end();
    await scene.server.close();
  });
});
