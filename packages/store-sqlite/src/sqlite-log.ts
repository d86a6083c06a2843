import { AgentError, type Fact, type FactDraft } from "@loopwright/core";
import { type AppendRequest, appendLimits, type DueSession, type SessionLog, type SessionRef } from "@loopwright/core/ports";
import type { Answer, Ask, OperationName } from "./operation.ts";
import { TailWatch } from "./tail-watch.ts";
import { errorOf, type WorkerCalls } from "./worker-calls.ts";

const idShape = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const all: number = Number.MAX_SAFE_INTEGER;

/** Asks, and throws what went wrong. */
export async function answerOf<Name extends OperationName>(calls: WorkerCalls, name: Name, ask: Ask<Name>): Promise<Answer<Name>> {
  const outcome = await calls.ask(name, ask);
  if (outcome.type !== "answered") throw errorOf(outcome.fault);
  return outcome.answer;
}

/** The log in the file. `now` is the clock that leases are compared with, where one was given. */
export function sqliteLog(calls: WorkerCalls, now: () => number | undefined): SessionLog & { readonly watch: TailWatch } {
  const watch = new TailWatch(calls);
  return {
    watch,
    async append(ref, request) {
      const ask = appendAskOf(ref, request);
      const outcome = await calls.ask("append", ask);
      if (outcome.type === "failed") throw errorOf(outcome.fault);
      if (outcome.type === "uncertain") return { type: "unknown" };
      const { answer } = outcome;
      if (answer.type === "ok") watch.tell(ref, answer.lastSeq);
      return answer;
    },
    async read(ref, options) {
      checkRef(ref);
      return readAll(calls, ref, { from: Math.max(1, options?.from ?? 1), limit: options?.limit ?? all });
    },
    async head(ref) {
      return answerOf(calls, "head", { ref: checkRef(ref), now: now() });
    },
    async claim(ref, { node, leaseMs }) {
      return answerOf(calls, "claim", { ref: checkRef(ref), node, leaseMs, now: now() });
    },
    async renew(ref, { epoch, leaseMs }) {
      return answerOf(calls, "renew", { ref: checkRef(ref), epoch, leaseMs, now: now() });
    },
    async release(ref, epoch) {
      await answerOf(calls, "release", { ref: checkRef(ref), epoch });
    },
    async due({ now: moment, limit = 100, after }) {
      return answerOf(calls, "due", { now: Math.floor(moment), limit, ...(after ? { after: placeOf(after) } : {}), machineNow: now() });
    },
    async setDue(ref, { expectedSeq, due }) {
      await answerOf(calls, "setDue", { ref: checkRef(ref), expectedSeq, due: wholeOf(due) });
    },
    async remove(ref) {
      await answerOf(calls, "remove", { ref: checkRef(ref) });
      watch.tell(ref, 0);
    },
    subscribe: (ref, listener) => watch.subscribe(checkRef(ref), listener),
  };
}

/** Only the place: callers may pass more. */
function placeOf({ ref, due }: DueSession): DueSession {
  return { ref: { scope: ref.scope, session: ref.session }, due };
}

/** The date as a whole number, never later. */
function wholeOf(due: number | null): number | null {
  return due === null ? null : Math.floor(due);
}

function checkRef(ref: SessionRef): SessionRef {
  for (const id of [ref.scope, ref.session])
    if (!idShape.test(id)) throw invalid(`\`${id.slice(0, 80)}\` is not an id.`, `An id matches ${idShape.source}.`);
  return { scope: ref.scope, session: ref.session };
}

function invalid(message: string, fix?: string): AgentError {
  return new AgentError("INPUT_INVALID", { message, fix });
}

function appendAskOf(ref: SessionRef, request: AppendRequest): Ask<"append"> {
  const { facts, expectedSeq, epoch, batchId, release = false } = request;
  if (facts.length === 0 || facts.length > appendLimits.facts)
    throw invalid(`A batch of ${facts.length} facts; it has 1 to ${appendLimits.facts}.`);
  const bodies = facts.map((draft, at) => bodyOf(draft, expectedSeq + at + 1));
  checkSizes(bodies);
  const last = facts.at(-1);
  return {
    ref: checkRef(ref),
    expectedSeq,
    epoch,
    batchId,
    bodies,
    at: Math.trunc(last?.at ?? 0),
    closes: last?.type === "session.closed",
    release,
    due: request.due === undefined ? undefined : wholeOf(request.due),
  };
}

/** The fact as JSON, with the number that it will have if the batch is written. */
function bodyOf(draft: FactDraft, seq: number): string {
  const isNumbered = "seq" in draft && draft.seq === seq;
  try {
    return JSON.stringify(isNumbered ? draft : { ...draft, seq });
  } catch {
    throw invalid(`A fact of type \`${draft.type}\` is no JSON value.`);
  }
}

function checkSizes(bodies: readonly string[]): void {
  let units = 0;
  for (const body of bodies) units += body.length;
  // No text has more than three bytes per unit: most batches need no counting.
  if (units * 3 <= appendLimits.factBytes) return;
  let batchBytes = 0;
  for (const body of bodies) {
    const bytes = Buffer.byteLength(body);
    batchBytes += bytes;
    if (bytes > appendLimits.factBytes) throw invalid(`A fact of ${bytes} bytes; it may have ${appendLimits.factBytes}.`);
  }
  if (batchBytes > appendLimits.batchBytes) throw invalid(`A batch of ${batchBytes} bytes; it may have ${appendLimits.batchBytes}.`);
}

async function readAll(
  calls: WorkerCalls,
  ref: SessionRef,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  for (;;) {
    const page = await answerOf(calls, "read", { ref, from: from + facts.length, limit: limit - facts.length });
    const parsed = parsePage(ref, page.text);
    facts.push(...parsed);
    const misplaced = facts.findIndex(({ seq }, at) => seq !== from + at);
    if (misplaced >= 0) throw corrupt(ref, from + misplaced);
    if (!page.more || page.count === 0 || facts.length >= limit) return facts;
  }
}

function parsePage(ref: SessionRef, text: string): readonly Fact[] {
  try {
    return JSON.parse(text);
  } catch {
    throw corrupt(ref, undefined);
  }
}

function corrupt({ session }: SessionRef, seq: number | undefined): AgentError {
  return new AgentError("SESSION_CORRUPT", {
    message: `The log of session \`${session}\` is damaged${seq === undefined ? "" : ` at fact ${seq}`}.`,
  });
}
