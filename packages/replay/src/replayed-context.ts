/*
 * Owns: the context engine of a replay: it fits requests as the agent's engine does, and compacts where the log has a compaction.
 * Does not own: how a history is cut (the engine).
 */
import type { Fact, FactOf, Usage } from "@loopwright/core";
import type { ContextCall, ContextEngine, ContextPreparation, ContextPreparing } from "@loopwright/core/ports";
import type { RecordedCourse } from "./recorded-course.ts";

/** The engine, whose summaries are those of the log: a model may have written them. When it compacts is part of that. */
export function replayedContext(engine: ContextEngine, course: RecordedCourse): ContextEngine {
  return {
    open() {
      const { fit } = bound(engine.open());
      return { fit, prepare: (call, io) => prepared(call, io, course) };
    },
  };
}

function bound(context: ReturnType<ContextEngine["open"]>): Pick<ReturnType<ContextEngine["open"]>, "fit"> {
  return { fit: (call) => context.fit(call) };
}

async function prepared(call: ContextCall, io: ContextPreparing, course: RecordedCourse): Promise<ContextPreparation | undefined> {
  course.activity += 1;
  const ended = (fact: Fact): fact is FactOf<"model.started"> | FactOf<"run.finished"> =>
    (fact.type === "model.started" && fact.runId === call.runId && fact.turn === call.turn && fact.attempt === call.attempt) ||
    (fact.type === "run.finished" && fact.runId === call.runId);
  const end = course.ahead(ended);
  const own = course.owned().slice(0, end ? end.seq - 1 - course.position : undefined);
  let asked: FactOf<"summary.started"> | undefined;
  let failed: FactOf<"summary.failed"> | undefined;
  for (const fact of own) {
    if (fact.type === "summary.failed" && fact.runId === call.runId) failed = fact;
    if (fact.type !== "summary.started" || fact.runId !== call.runId) continue;
    asked = fact;
    // The end of one that failed is recorded with the beginning of the next.
    await course.reached(failed?.seq ?? fact.seq, fact.seq);
    failed = undefined;
    const { provider, model, expected } = fact;
    const reservation = await io.reserve?.({ provider, model, usage: expected.usage ?? nothing });
    reservation?.settle(own.find((each) => isEndOf(each, fact))?.usage ?? nothing);
  }
  // The process ended before the call.
  if (!end) return new Promise<never>(() => {});
  const compacted = own.find((fact): fact is FactOf<"context.compacted"> => fact.type === "context.compacted" && fact.runId === call.runId);
  const first = failed ?? compacted ?? end;
  // What came while the summary was written is taken in before it ends.
  await (asked ? course.reached(first.seq) : course.led(first));
  const notes =
    end.type === "model.started" ? (end.verdicts ?? []).filter(({ hook, point }) => hook === "context" && point === "prepare") : [];
  return {
    ...(compacted ? { compaction: compactionOf(compacted, asked) } : {}),
    ...(notes.length > 0 ? { notes: notes.map(({ action, reason = "" }) => ({ action, reason })) } : {}),
  };
}

const nothing: Usage = { input: 0, output: 0 };

const isEndOf = (fact: Fact, { seq, runId }: FactOf<"summary.started">): fact is FactOf<"summary.failed"> | FactOf<"context.compacted"> =>
  fact.seq > seq && (fact.type === "summary.failed" || fact.type === "context.compacted") && fact.runId === runId;

function compactionOf(
  { from, to, summary, pinned, model, usage, tokensBefore, tokensAfter }: FactOf<"context.compacted">,
  asked: FactOf<"summary.started"> | undefined,
): NonNullable<ContextPreparation["compaction"]> {
  return {
    from,
    to,
    summary,
    ...(pinned ? { pinned } : {}),
    ...(model === undefined ? {} : { model }),
    ...(usage ? { usage } : {}),
    ...(asked && usage ? { provider: asked.provider } : {}),
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    ...(tokensAfter === undefined ? {} : { tokensAfter }),
  };
}
