import { AgentError, type DurableEvent, type ErrorCode } from "@loopwright/core";
import { executeStatusOf } from "@loopwright/core/protocol";
import type { AnswerEnd } from "../chat/chat-session.ts";

/** Runs whose end is remembered. */
const endsMax = 64;

interface Waiting {
  readonly runId: string;
  /** Only an end that comes after this fact counts. */
  readonly after: number;
  readonly resolve: (end: AnswerEnd) => void;
  readonly reject: (error: unknown) => void;
}

/** How runs end, by the durable events of their session, for callers that wait for it: before or after the event came. */
export interface RunEnds {
  take(event: DurableEvent): void;
  /** Resolves when the run ends, or waits for an answer or a decision, after the fact of that number. */
  of(runId: string, after: number): Promise<AnswerEnd>;
  /** Nothing more comes. */
  fail(error: unknown): void;
}

export function createRunEnds(): RunEnds {
  const ends = new Map<string, { readonly seq: number; readonly end: AnswerEnd }>();
  const failures = new Map<string, AgentError>();
  let waiting: readonly Waiting[] = [];
  let failure: { readonly error: unknown } | undefined;

  function settle(runId: string, seq: number, end: AnswerEnd): void {
    ends.delete(runId);
    ends.set(runId, { seq, end });
    for (const oldest of ends.keys()) if (ends.size > endsMax) ends.delete(oldest);
    const isOver = (one: Waiting): boolean => one.runId === runId && seq > one.after;
    const over = waiting.filter(isOver);
    waiting = waiting.filter((one) => !isOver(one));
    for (const one of over) one.resolve(end);
  }

  return {
    take(event) {
      const { runId, seq } = event;
      if (runId === undefined) return;
      if (event.type === "error") failures.set(runId, errorOf(event.code, event.error, runId));
      else if (event.type === "awaiting_tool_execution" || event.type === "approval_requested")
        settle(runId, seq, { status: "awaiting_tool_execution", runId });
      else if (event.type === "run_end") {
        const error = failures.get(runId);
        failures.delete(runId);
        const status = executeStatusOf(event.status);
        settle(runId, seq, { status, runId, ...(error ? { error } : {}) });
      }
    },
    of(runId, after) {
      const known = ends.get(runId);
      if (known && known.seq > after) return Promise.resolve(known.end);
      if (failure) return Promise.reject(failure.error);
      return new Promise((resolve, reject) => {
        waiting = [...waiting, { runId, after, resolve, reject }];
      });
    },
    fail(error) {
      failure = { error };
      const all = waiting;
      waiting = [];
      for (const one of all) one.reject(error);
    },
  };
}

const errorOf = (code: ErrorCode, message: string, runId: string): AgentError => new AgentError(code, { message, runId });
