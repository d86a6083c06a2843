import { findEventViolation } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { defineTool, execute } from "../src/index.ts";
import { calm, deferred, eventsOf, howStands, ofType } from "./harness.ts";
import { drive, nodes, receivedBy, ref } from "./nodes.ts";

const parameters = { type: "object" } as const;
const callOf = (name: string) =>
  [
    { type: "call-start", index: 0, id: "c1", name },
    { type: "end", stopReason: "tool_calls", raw: "tool_calls" },
  ] as const;

describe("a session that is handed over", () => {
  it("in the middle of an answer is gone on with at once by another node, and the attempt does not count", async () => {
    const { node, model, store, facts, clock } = nodes({ limits: { attemptsMax: 1 } });
    const owner = node();
    const far = receivedBy(node({ drives: false }));
    const stream = execute(owner, "go");
    const published = eventsOf(stream);
    await calm();
    model[0]?.say("half ");
    await calm();
    await owner.handOver();
    expect(model[0]?.isClosed).toBe(true);
    expect((await store.log.head(ref)).lease).toBeUndefined();
    expect(await store.log.due({ now: clock.now() })).toEqual([{ ref, due: 0 }]);
    drive(node());
    await calm();
    model[1]?.say("whole");
    model[1]?.end();
    expect(await stream.result()).toMatchObject({ status: "completed", text: "whole" });
    const failed = (await facts()).filter((fact) => fact.type === "model.failed");
    expect(failed).toMatchObject([{ attempt: 1, failure: { code: "HANDED_OVER", retryable: true } }]);
    expect(ofType(await published, "attempt_discarded")).toMatchObject([{ willRetry: true }]);
    expect(findEventViolation(await published, { mayLoseDeltas: true })).toBeUndefined();
    await calm();
    expect(findEventViolation(far, { mayLoseDeltas: true, joins: true })).toBeUndefined();
  });

  it("again and again runs out of no attempts, and a failure afterwards counts as the first", async () => {
    const { node, model, types, pass } = nodes({ limits: { attemptsMax: 2 } });
    const stream = execute(node({ drives: false }), "go");
    for (let turn = 0; turn < 5; turn++) {
      const owner = drive(node());
      await calm();
      await owner.handOver();
    }
    drive(node());
    await calm();
    expect(model).toHaveLength(6);
    model[5]?.fail("MODEL_OVERLOADED");
    await pass(5_000);
    expect(model).toHaveLength(7);
    model[6]?.fail("MODEL_OVERLOADED");
    expect(await stream.result()).toMatchObject({ status: "error", error: { code: "MODEL_OVERLOADED" } });
    expect((await types()).filter((type) => type === "model.failed")).toHaveLength(7);
  });

  it("twenty times in one answer is no failure; once more is one like others", async () => {
    const { node, types } = nodes({ limits: { attemptsMax: 1 } });
    const stream = execute(node({ drives: false }), "go");
    for (let turn = 0; turn < 21; turn++) {
      expect((await types()).filter((type) => type === "run.finished")).toEqual([]);
      const owner = node();
      const leave = owner.follow({ events: () => {} });
      await calm();
      await owner.handOver();
      leave();
    }
    drive(node());
    await calm();
    expect(await stream.result()).toMatchObject({ status: "error", error: { code: "HANDED_OVER" } });
  });

  it("keeps what a tool gives within half a second of the signal", async () => {
    let signal: AbortSignal | undefined;
    const done = deferred<string>();
    const work = defineTool({
      name: "work",
      description: "Works",
      parameters,
      execute(_, context) {
        signal = context.signal;
        return done.promise;
      },
    });
    const { node, model, types, pass } = nodes({ tools: [work] });
    const owner = node();
    const stream = execute(owner, "go");
    await calm();
    model[0]?.read(callOf("work"));
    await calm();
    const handed = owner.handOver();
    expect(signal?.aborted).toBe(true);
    await pass(400);
    expect(await howStands(handed)).toBe("pending");
    done.resolve("done");
    await handed;
    expect((await types()).at(-1)).toBe("tool.finished");
    drive(node());
    await calm();
    model[1]?.say("thanks");
    model[1]?.end();
    const { messages } = await stream.result();
    expect(messages[2]).toMatchObject({ role: "tool_result", outcome: "ok" });
  });

  it("is free at once when its handle is disposed of before a tool has ended", async () => {
    const work = defineTool({ name: "work", description: "Works", parameters, execute: () => deferred<string>().promise });
    const { node, model, store } = nodes({ tools: [work] });
    const owner = node();
    const stream = execute(owner, "go");
    await calm();
    model[0]?.read(callOf("work"));
    await calm();
    const handed = owner.handOver();
    await owner[Symbol.asyncDispose]();
    expect(await howStands(handed)).toBe("resolved");
    expect(await howStands(stream.result())).toBe("rejected");
    expect((await store.log.head(ref)).lease).toBeUndefined();
  });

  it.each([
    ["once", "interrupted", 1],
    ["idempotent", "ok", 2],
    ["pure", "ok", 2],
  ] as const)("leaves a tool of class %s that still runs as a crash would: %s", async (replay, outcome, starts) => {
    const keys: string[] = [];
    const work = defineTool({
      name: "work",
      description: "Works",
      parameters,
      replay,
      execute(_, { idempotencyKey, signal }) {
        keys.push(idempotencyKey);
        if (keys.length > 1) return "done";
        return new Promise<string>((_, reject) => {
          signal.addEventListener("abort", () => replay !== "idempotent" && reject(new Error("stopped")));
        });
      },
    });
    const { node, model, types, pass } = nodes({ tools: [work] });
    const owner = node();
    const stream = execute(owner, "go");
    await calm();
    model[0]?.read(callOf("work"));
    await calm();
    const handed = owner.handOver();
    await pass(500);
    expect(await howStands(handed)).toBe("resolved");
    expect((await types()).at(-1)).toBe("tool.started");
    drive(node());
    await calm();
    model[1]?.say("well");
    model[1]?.end();
    const { messages } = await stream.result();
    expect(messages[2]).toMatchObject({ outcome });
    expect(keys).toHaveLength(starts);
    expect(new Set(keys).size).toBe(1);
  });

  it("while a hook thinks, while it waits for a retry, or at rest is free at once", async () => {
    const thought = deferred<undefined>();
    const { node, model, store, types } = nodes({ hooks: [{ name: "prepare", prepare: () => thought.promise }] });
    const owner = node();
    const stream = execute(owner, "go");
    await calm();
    await owner.handOver();
    expect((await store.log.head(ref)).lease).toBeUndefined();
    expect(model).toHaveLength(0);
    thought.resolve(undefined);
    drive(node());
    await calm();
    expect(model).toHaveLength(1);
    model[0]?.say("there");
    model[0]?.end();
    expect((await stream.result()).text).toBe("there");
    const before = await types();
    await owner.handOver();
    await owner.handOver();
    expect(await types()).toEqual(before);
    expect(await owner.submit("more")).toMatchObject({ replayed: false });
  });

  it("that is being aborted keeps its partial text, and ends as aborted", async () => {
    const { node, model, pass, types } = nodes();
    const owner = node();
    const stream = execute(owner, "go");
    await calm();
    model[0]?.say("half");
    await calm();
    const aborted = stream.abort();
    const handed = owner.handOver();
    await Promise.all([aborted, handed]);
    drive(node());
    await pass(1_000);
    expect(await stream.result()).toMatchObject({ status: "aborted" });
    expect((await types()).filter((type) => type === "run.finished")).toHaveLength(1);
  });
});
