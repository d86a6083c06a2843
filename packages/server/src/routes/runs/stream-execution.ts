import type { CheckedInput, EventCursor, SubmitOptions } from "@loopwright/core/protocol";
import { compareCursors, cursorAfter, inCallOrder } from "@loopwright/core/protocol";
import type { HostedSession } from "@loopwright/host";
import { accessOf } from "../../identity/access-of-principal.ts";
import { redactedCause } from "../../redact-cause-for-log.ts";
import { openHeldSink } from "../../request/open-stream-under-slot.ts";
import { traceOf } from "../../request/read-traceparent.ts";
import { checkCursor } from "../../request/request-cursor.ts";
import type { RequestContext } from "../../request/route.ts";
import { dialectSink } from "../../stream/dialect-sink.ts";
import type { EarlyEvents } from "../../stream/events-during-append.ts";
import { createExecutionOutcome } from "../../stream/execution-outcome.ts";
import { encodeFrames, joinTexts, plainFrame, plainText, retryFrame } from "../../stream/sse-frames.ts";
import type { StreamPlace } from "../../stream/stream-registry.ts";
import type { StreamDialect } from "../../stream-dialect.ts";

export interface ExecutionRequest {
  readonly input: CheckedInput;
  readonly options: SubmitOptions;
  /** The last event that the caller has: only later events are sent. */
  readonly seen: EventCursor | undefined;
  /** Default: the stream has the events unchanged. */
  readonly dialect?: StreamDialect | undefined;
  /** True: a caller that disconnects stops the run. */
  readonly stopsWithStream?: boolean | undefined;
}

/**
 * Records the input, then streams the run until it ends or waits for a result or an approval: `session_start` first, `session_end` and `execute_complete`
 * last. A caller that disconnects does not stop the run, unless it has asked for that. @throws AgentError what `submit` throws, before any byte is sent; CONNECTION_LIMIT
 */
export async function streamExecution(
  context: RequestContext,
  hosted: HostedSession,
  { input, options, seen, dialect, stopsWithStream }: ExecutionRequest,
): Promise<Response> {
  const { principal, server } = context;
  const { session } = hosted;
  const feed = server.feeds.of(hosted);
  let place: StreamPlace | undefined;
  let early: EarlyEvents | undefined;
  try {
    if (seen) await checkCursor(seen, hosted, server);
    place = server.streams.take(principal);
    await session.ready();
    early = feed.receive();
    const { runId, seq, replayed } = await session.submit(input, { ...options, access: accessOf(principal), ...traceOf(context.request) });
    if (seen || replayed) early.stop();
    const reading = { runOf: () => runId };
    const headers = { "X-Session-Id": session.id, "Access-Control-Expose-Headers": "X-Session-Id" };
    const { sink, response } = openHeldSink(context, place, {
      headers,
      ...(dialect ? { over: (raw) => dialectSink(raw, session.id, dialect.open(reading)) } : {}),
    });
    const outcome = createExecutionOutcome(runId);
    // If the caller has seen less than the log had before this run, it also gets the events in between.
    const first = seen && compareCursors(seen, cursorAfter(seq - 1)) < 0 ? seen : cursorAfter(seq - 1);
    const finish = (): void => {
      const end = plainText({ type: "session_end", sessionId: session.id, messages: inCallOrder(outcome.messages) });
      void sink.pour(joinTexts([end, plainText(outcome.complete(session))]));
      leave();
      sink.end();
    };
    sink.onClose(() => early?.stop());
    sink.onClose(() => {
      if (stopsWithStream && sink.isLeft && !outcome.isEnded) void stopRun(context, hosted, runId);
      else hosted.release();
    });
    sink.write(encodeFrames(retryFrame + plainFrame({ type: "session_start", sessionId: session.id, runId })));
    const leave = feed.subscribe({
      sink,
      runId,
      after: first,
      early: () => early?.take(runId),
      ...(seen ? { seen } : {}),
      notified(events) {
        outcome.take(events.filter((event) => event.seq >= seq));
        if (outcome.isEnded) finish();
      },
      removed: () => finish(),
      rested() {
        // While another run waits for a result, this one has not begun.
        if (session.runId === undefined || session.runId === runId) finish();
      },
    });
    return response;
  } catch (error) {
    early?.stop();
    place?.release();
    hosted.release();
    throw error;
  }
}

/** Stops the run of a caller that has left, then releases the session. */
async function stopRun({ principal, server }: RequestContext, { session, release }: HostedSession, runId: string): Promise<void> {
  try {
    await session.abort("client left", { by: principal.user, runId });
  } catch (cause) {
    server.logger.log("warn", "The run of a client that has left could not be stopped.", { session: session.id, ...redactedCause(cause) });
  } finally {
    release();
  }
}
