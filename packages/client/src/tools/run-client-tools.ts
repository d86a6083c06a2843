import type { PendingToolCall, Tool } from "@loopwright/core/protocol";
import type { LoopwrightClient } from "../create-client.ts";
import { type ClientClock, platformClock, platformRandom } from "../platform.ts";
import type { SessionRequests } from "../session-requests.ts";
import { applyEvents } from "../view/apply-events.ts";
import type { SessionView } from "../view/session-view.ts";
import { viewOf } from "../view/view-of.ts";
import { platformLocks, platformNotes, type ToolLocks, type ToolNotes } from "./tool-platform.ts";
import { createToolRuntime, type RunningCall, type ToolRuntime, type ToolRuntimeParts, type ToolVerdict } from "./tool-runtime.ts";

export interface ClientToolsOptions {
  readonly sessionId: string;
  /** Those with `execute` run here. A tool whose `replay` is not `pure` or `idempotent` is not run again after a reload cut it off. */
  readonly tools: readonly Tool[];
  /** Asked before each call. A denial, or an error, is answered as TOOL_DENIED, which the model reads. Default: every call may run. */
  readonly authorise?: (call: PendingToolCall) => ToolVerdict | Promise<ToolVerdict>;
  /** What runs here, at each change: for a screen that shows it. */
  readonly onChange?: (calls: readonly RunningCall[]) => void;
  /** An answer that could not be sent yet, or is refused. */
  readonly onError?: ToolRuntimeParts["onError"];
  /** Each batch of the session that is followed, with the view after it. */
  readonly onView?: (view: SessionView) => void;
  /** Default: Web Locks, which all tabs share. */
  readonly locks?: ToolLocks;
  /** Default: `localStorage`, which all tabs share and which outlives a reload. */
  readonly notes?: ToolNotes;
  readonly clock?: ClientClock;
  readonly random?: () => number;
  /** Ends it; calls that run are given up, and run in another tab or after a reload. */
  readonly signal?: AbortSignal;
}

/** The part of a client that is needed here. */
export interface ToolsClient {
  readonly sessions: Pick<SessionRequests, "sendResults">;
}

/** A runtime for a page that follows its session by itself: give it the calls that wait, at each change. */
export function clientTools(client: ToolsClient, options: ClientToolsOptions): ToolRuntime {
  const { sessionId, tools, authorise = () => true, onChange = () => {}, onError = () => {} } = options;
  const { locks = platformLocks, notes = platformNotes(), clock = platformClock, random = platformRandom } = options;
  const { sessions } = client;
  return createToolRuntime({ sessionId, tools, sessions, authorise, locks, notes, clock, random, onChange, onError });
}

/**
 * Follows a session and runs the calls that wait for this client, each in one tab, until the signal is aborted. @throws AgentError as `client.follow`
 * @example void runClientTools(client, { sessionId, tools: [setField], authorise: (call) => mayRun(call), signal })
 */
export async function runClientTools(client: ToolsClient & Pick<LoopwrightClient, "follow">, options: ClientToolsOptions): Promise<void> {
  const runtime = clientTools(client, options);
  let view: SessionView | undefined;
  try {
    for await (const batch of client.follow(options.sessionId, options.signal ? { signal: options.signal } : {})) {
      let asOf: number | undefined;
      for (const event of batch) {
        if (event.type === "session_snapshot") {
          view = viewOf(event.snapshot);
          asOf = event.snapshot.updatedAt;
        } else if (view && ("seq" in event || "lane" in event)) {
          view = applyEvents(view, [event]);
          if ("at" in event) asOf = event.at;
        }
      }
      if (!view) continue;
      if (asOf !== undefined) runtime.offer(view.pendingToolCalls, asOf);
      options.onView?.(view);
    }
  } finally {
    runtime.close();
  }
}
