import { AgentError, type Fact, isAgentError } from "@loopwright/core";
import type { AppendRequest, DueSession, SessionLog, SessionRef } from "@loopwright/core/ports";
import { checkedRef, factTexts, parentOf } from "@loopwright/core/stores";
import type { Answer, Ask, OperationName } from "./operation.ts";
import { TailWatch } from "./tail-watch.ts";
import { type Asking, errorOf, type WorkerCalls } from "./thread/worker-calls.ts";

const all: number = Number.MAX_SAFE_INTEGER;

/** Asks, and throws what went wrong. */
export async function answerOf<Name extends OperationName>(calls: Asking, name: Name, ask: Ask<Name>): Promise<Answer<Name>> {
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
      if (answer.type === "ok") watch.notify(ref, answer.lastSeq);
      return answer;
    },
    async read(ref, options) {
      checkedRef(ref);
      const range = { from: Math.max(1, options?.from ?? 1), limit: options?.limit ?? all };
      return calls.together((own) => readAll(own, ref, range));
    },
    async head(ref) {
      return answerOf(calls, "head", { ref: checkedRef(ref), now: now() });
    },
    async claim(ref, { node, leaseMs }) {
      return answerOf(calls, "claim", { ref: checkedRef(ref), node, leaseMs, now: now() });
    },
    async renew(ref, { epoch, leaseMs }) {
      return answerOf(calls, "renew", { ref: checkedRef(ref), epoch, leaseMs, now: now() });
    },
    async release(ref, epoch) {
      await answerOf(calls, "release", { ref: checkedRef(ref), epoch });
    },
    async due({ now: moment, limit = 100, after }) {
      return answerOf(calls, "due", { now: Math.floor(moment), limit, ...(after ? { after: placeOf(after) } : {}), machineNow: now() });
    },
    async setDue(ref, { expectedSeq, due }) {
      await answerOf(calls, "setDue", { ref: checkedRef(ref), expectedSeq, due: wholeOf(due) });
    },
    async remove(ref) {
      await answerOf(calls, "remove", { ref: checkedRef(ref) });
      watch.notify(ref, 0);
    },
    subscribe: (ref, listener) => watch.subscribe(checkedRef(ref), listener),
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

function appendAskOf(ref: SessionRef, request: AppendRequest): Ask<"append"> {
  const { facts, expectedSeq, epoch, batchId, release = false } = request;
  const bodies = factTexts(request);
  const last = facts.at(-1);
  return {
    ref: checkedRef(ref),
    expectedSeq,
    epoch,
    batchId,
    bodies,
    at: Math.trunc(last?.at ?? 0),
    closes: last?.type === "session.closed",
    release,
    parent: parentOf(facts),
    due: request.due === undefined ? undefined : wholeOf(request.due),
  };
}

async function readAll(
  calls: Asking,
  ref: SessionRef,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  for (;;) {
    const page = await answerOf(calls, "read", { ref, from: from + facts.length, limit: limit - facts.length });
    const start = from + facts.length;
    try {
      facts.push(...parsePage(ref, page.text, start));
    } catch (error) {
      // From now on no append goes behind the damage.
      if (isAgentError(error)) await calls.ask("condemn", { ref, message: error.message });
      throw error;
    }
    if (!page.more || page.count === 0 || facts.length >= limit) return facts;
  }
}

/** @throws AgentError SESSION_CORRUPT where the text is none of facts, or their numbers do not continue from `start` */
function parsePage(ref: SessionRef, text: string, start: number): readonly Fact[] {
  let facts: readonly Fact[];
  try {
    facts = JSON.parse(text);
  } catch {
    throw corrupt(ref, undefined);
  }
  const misplaced = facts.findIndex(({ seq }, at) => seq !== start + at);
  if (misplaced >= 0) throw corrupt(ref, start + misplaced);
  return facts;
}

function corrupt({ session }: SessionRef, seq: number | undefined): AgentError {
  return new AgentError("SESSION_CORRUPT", {
    message: `The log of session \`${session}\` is damaged${seq === undefined ? "" : ` at fact ${seq}`}.`,
  });
}
