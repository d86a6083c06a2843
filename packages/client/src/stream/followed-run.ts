import {
  type AgentEvent,
  addSpent,
  cursorAfter,
  type ExecuteStream,
  encodeCursor,
  executeStatusOf,
  type Message,
  type SessionSnapshot,
} from "@loopwright/core/protocol";
import type { ClientContext } from "../client-context.ts";
import { clientError } from "../client-error.ts";
import { type ExecuteComplete, executionStream, type RunEnd } from "./execution-stream.ts";
import { type FollowedEvent, followSession } from "./follow-session.ts";

/** A fact of a run, and what of the server is needed to follow it. */
export interface FollowedRun {
  readonly sessionId: string;
  readonly runId: string;
  /** The first fact whose events are wanted. */
  readonly seq: number;
  /** Stops watching, not the run. */
  readonly signal?: AbortSignal | undefined;
  snapshot(): Promise<SessionSnapshot>;
  abort(reason: string): Promise<unknown>;
}

type Ending = Omit<ExecuteComplete, "type" | "status">;

/** The stream of a run from a fact on, until the run ends or waits. */
export function streamOfRun(client: ClientContext, { sessionId, runId, seq, signal, snapshot, abort }: FollowedRun): ExecuteStream {
  async function run(push: (event: AgentEvent) => void): Promise<RunEnd> {
    const messages: Message[] = [];
    let ending: Ending = { runId };
    const endAs = (status: ExecuteComplete["status"], more: Ending = {}): RunEnd => ({
      messages,
      complete: { type: "execute_complete", status, ...ending, ...more },
    });
    const after = encodeCursor(cursorAfter(seq - 1));
    for await (const events of followSession(client, sessionId, { after, ...(signal ? { signal } : {}) })) {
      for (const event of events) {
        if (event.type === "rest") {
          const { run: open } = await snapshot();
          const { pendingToolCalls = [], pendingApprovals = [] } = open?.runId === runId ? open : {};
          return endAs("awaiting_tool_execution", { pendingToolCalls, pendingApprovals });
        }
        if (!isOf(event, runId)) continue;
        push(event);
        if (event.type === "message_end") messages.push(event.message);
        if (event.type === "run_end") return endAs(executeStatusOf(event.status));
        ending = { ...ending, ...endingOf(ending, event) };
      }
    }
    throw clientError("SESSION_CLOSED", { message: `The session \`${sessionId}\` ended while its run was followed.`, runId });
  }
  return executionStream({ sessionId, run, abort: async (reason = "user") => void (await abort(reason)) });
}

/** Ephemeral events do not name their run: of one session only one is open. */
const isOf = (event: FollowedEvent, runId: string): event is Exclude<FollowedEvent, { readonly type: "session_snapshot" | "rest" }> =>
  event.type !== "session_snapshot" && (!("seq" in event) || event.runId === runId);

/** What an event changes of the end to come. */
function endingOf(before: Ending, event: AgentEvent): Ending {
  if (event.type === "message_end" || event.type === "attempt_discarded") return addSpent(before, event);
  if (event.type === "limit_reached") return { limit: { which: event.which, value: event.value } };
  return event.type === "error" ? { error: { code: event.code, detail: event.error } } : {};
}
