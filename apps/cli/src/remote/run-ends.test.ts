import type { DurableEvent } from "@loopwright/core";
import { expect, test } from "vitest";
import { durable } from "../../test/events.ts";
import { createRunEnds } from "./run-ends.ts";

const end = (seq: number, status: "completed" | "aborted" | "failed", runId = "r"): DurableEvent =>
  ({ ...durable(seq, "run_end", { status, reason: "x" }), runId }) as DurableEvent;

test("every waiting caller gets the end of the run, whether it asked before or after", async () => {
  const ends = createRunEnds();
  const early = ends.of("r", 3);
  ends.take(end(5, "completed", "another"));
  ends.take(end(9, "aborted"));
  expect(await early).toEqual({ status: "aborted", runId: "r" });
  expect(await ends.of("r", 3)).toEqual({ status: "aborted", runId: "r" });
});

test("a failed run brings its error", async () => {
  const ends = createRunEnds();
  ends.take(durable(8, "error", { reason: "error", code: "MODEL_OVERLOADED", error: "Too busy." }) as DurableEvent);
  ends.take(end(8, "failed"));
  expect(await ends.of("r", 1)).toMatchObject({ status: "error", error: { code: "MODEL_OVERLOADED", message: "Too busy." } });
});

test("what a run waited for before an answer does not end the wait after it", async () => {
  const ends = createRunEnds();
  ends.take(durable(6, "awaiting_tool_execution", { toolCalls: [] }) as DurableEvent);
  expect(await ends.of("r", 3)).toMatchObject({ status: "awaiting_tool_execution" });
  const afterAnswer = ends.of("r", 7);
  ends.take(end(12, "completed"));
  expect(await afterAnswer).toMatchObject({ status: "completed" });
});

test("when nothing more comes, no caller waits for ever", async () => {
  const ends = createRunEnds();
  const waiting = ends.of("r", 1);
  ends.fail(new Error("gone"));
  await expect(waiting).rejects.toThrow("gone");
  await expect(ends.of("other", 1)).rejects.toThrow("gone");
});
