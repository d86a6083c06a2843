import type { Fact } from "@loopwright/core";
import type { AppendOutcome, AppendRequest, SessionRef } from "@loopwright/core/ports";
import { factTexts } from "@loopwright/core/stores";
import type { Ask, Fault, LogPage } from "../src/operation.ts";
import { StoreEngine } from "../src/store-engine.ts";

/** The engine of a file without its thread: for tests that open thousands of files. */
export function engineOf(path: string, sizeMaxBytes?: number): StoreEngine {
  return new StoreEngine({ path, busyTimeoutMs: 1_000, sizeMaxBytes });
}

export const refOf = (session: string): SessionRef => ({ scope: "local", session });

/** A batch of notes after `expectedSeq`, named by its place. */
export function notes(expectedSeq: number, ...titles: readonly string[]): AppendRequest {
  const facts = titles.map((title) => ({ type: "session.changed", title, at: expectedSeq, v: 1 }) as const);
  return { expectedSeq, batchId: `after ${expectedSeq}`, facts };
}

function askOf(ref: SessionRef, request: AppendRequest): Ask<"append"> {
  const { expectedSeq, epoch, batchId } = request;
  return {
    ref,
    expectedSeq,
    epoch,
    batchId,
    bodies: factTexts(request),
    at: 0,
    closes: false,
    release: false,
    parent: undefined,
    due: undefined,
  };
}

/** What became of several appends that came together. */
export function appendAll(
  engine: StoreEngine,
  asks: readonly { readonly session: string; readonly request: AppendRequest }[],
): readonly (AppendOutcome | Fault)[] {
  const results = engine.serve(asks.map(({ session, request }) => ({ name: "append", ask: askOf(refOf(session), request) })));
  // The engine answers an append with an outcome; only the union of all answers hides it.
  return results.map((result) => ("answer" in result ? (result.answer as AppendOutcome) : result.fault));
}

/** The titles of a log, or the code of what is wrong with it. */
export function titlesIn(engine: StoreEngine, session: string): readonly string[] | string {
  const titles: string[] = [];
  for (;;) {
    const [result] = engine.serve([{ name: "read", ask: { ref: refOf(session), from: titles.length + 1, limit: 1_000_000 } }]);
    if (!result || "fault" in result) return result?.fault.code ?? "nothing";
    const page = result.answer as LogPage;
    const facts: readonly Fact[] = JSON.parse(page.text);
    titles.push(...facts.map((fact) => ("title" in fact ? (fact.title ?? "") : fact.type)));
    if (!page.more || page.count === 0) return titles;
  }
}
