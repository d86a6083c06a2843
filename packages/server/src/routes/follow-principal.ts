import { AgentError } from "@loopwright/core";
import type { Notification, ScopeListener } from "@loopwright/core/ports";
import type { EventCursor, SessionEvent } from "@loopwright/core/protocol";
import type { HostedSession } from "@loopwright/host";
import { type HeldSink, openHeldSink } from "../request/open-stream-under-slot.ts";
import { checkCursor, cursorOf } from "../request/request-cursor.ts";
import type { RequestContext } from "../request/route.ts";
import type { BoundedSendQueue } from "../stream/bounded-send-queue.ts";
import { positionOf } from "../stream/reader-position.ts";
import { encodeFrames, frameText, plainText, retryFrame } from "../stream/sse-frames.ts";
import { type DialectFrame, headOf, type StreamDialect } from "../stream-dialect.ts";
import { openSession } from "./open-session.ts";
import { visibleSessions } from "./visible-sessions.ts";

export interface NotificationsQuery {
  /** `<id>` or `<id>@<cursor>`: sessions whose events come in full. */
  readonly session?: readonly string[] | undefined;
  /** The name of one of the server's dialects. */
  readonly dialect?: string | undefined;
}

interface Followed {
  readonly hosted: HostedSession;
  readonly after: EventCursor | undefined;
}

/**
 * One stream with everything that concerns a principal: hints about every session of its scope, the events of the named sessions, and the
 * notifications of the application. @throws AgentError SESSION_NOT_FOUND, CURSOR_INVALID, HISTORY_LOST, HISTORY_EXPIRED, INPUT_INVALID, CONNECTION_LIMIT
 */
export async function notifyPrincipal(context: RequestContext, query: NotificationsQuery): Promise<Response> {
  const { principal, principalNow, server } = context;
  const { channel } = server;
  const dialect = query.dialect === undefined ? undefined : dialectOf(query.dialect, context);
  const followed = await openNamed(context, query.session ?? []);
  const { sink, response } = openFor(context, followed);
  sink.write(encodeFrames(`${retryFrame}: connected\n\n`));
  const named = new Set(followed.map(({ hosted }) => hosted.session.id));
  const runOf = (session: string): string | undefined => server.host.runOf({ scope: principal.scope, session });
  const listener = dialect ? dialectListener(sink, dialect, runOf) : nativeListener(sink, named);
  const isForUs = ({ to }: Notification): boolean => to === undefined || to === principal.user;
  const seen = visibleSessions(principalNow, server, () => sink.destroy());
  const stop = channel.subscribeScope(principal.scope, {
    events: (session, events) => seen.pass(session, () => listener.events(session, events)),
    notification: (notification) => isForUs(notification) && listener.notification(notification),
    // A gap also occurs when a channel between nodes begins to deliver, which is after this stream has opened.
    gap: () => !dialect && sink.offer(plainText({ type: "hints_missed" }), { key: hintsMissed }),
  });
  sink.onClose(stop);
  for (const { hosted, after } of followed)
    server.feeds.of(hosted).subscribe({ sink, isShared: true, ...(after ? positionOf(after, hosted.session) : {}) });
  return response;
}

/** Opens the stream. The sessions are released when it closes, or at once if it cannot be opened. */
function openFor(context: RequestContext, followed: readonly Followed[]): HeldSink {
  const { server, principal } = context;
  const release = (): void => {
    for (const { hosted } of followed) hosted.release();
  };
  try {
    // Half of the limit, because the sink may hold the same number of bytes again in frames that cannot be replayed.
    const opened = openHeldSink(context, server.streams.take(principal), { queueBytes: server.limits.streamQueueBytes / 2 });
    opened.sink.onClose(release);
    return opened;
  } catch (error) {
    release();
    throw error;
  }
}

async function openNamed(context: RequestContext, names: readonly string[]): Promise<readonly Followed[]> {
  const { server } = context;
  const most = server.limits.sessionsPerNotifications;
  if (names.length > most)
    throw new AgentError("INPUT_INVALID", {
      message: `The request names ${names.length} sessions; at most ${most} are allowed.`,
      fix: "Open a second stream.",
    });
  const followed = new Map<string, Followed>();
  try {
    for (const name of names) {
      const [id = "", cursor] = name.split("@", 2);
      // A session that is named twice would be sent twice.
      if (followed.has(id)) continue;
      const after = cursor === undefined ? undefined : cursorOf(cursor);
      const hosted = await openSession(context, id);
      followed.set(id, { hosted, after });
      if (after) await checkCursor(after, hosted, server);
    }
    return [...followed.values()];
  } catch (error) {
    for (const { hosted } of followed.values()) hosted.release();
    throw error;
  }
}

/** The key of frames `hints_missed`, of which the queue needs only one. No session has this id. */
const hintsMissed = "hints missed";

type FullListener = Required<Pick<ScopeListener, "events" | "notification">>;

function nativeListener(sink: BoundedSendQueue, named: ReadonlySet<string>): FullListener {
  return {
    events(session, events) {
      const last = named.has(session) ? undefined : events.findLast((event) => "seq" in event);
      if (last && "seq" in last) sink.offer(plainText({ type: "session_hint", sessionId: session, seq: last.seq }), { key: session });
    },
    notification: (notification) => sink.offer(plainText({ type: "notification", notification })),
  };
}

function dialectListener(sink: BoundedSendQueue, dialect: StreamDialect, runOf: (session: string) => string | undefined): FullListener {
  const reader = dialect.open({ runOf });
  const push = (frame: DialectFrame): void => sink.offer(frameText(headOf(frame), frame.data), { isSpare: frame.isSpare === true });
  return {
    events: (session: string, events: readonly SessionEvent[]) => reader.events(session, events).forEach(push),
    notification: (notification) => reader.notification(notification).forEach(push),
  };
}

/** @throws AgentError INPUT_INVALID */
function dialectOf(name: string, { server }: RequestContext): StreamDialect {
  const { dialects = [] } = server.options;
  const found = dialects.find((dialect) => dialect.name === name);
  if (found) return found;
  throw new AgentError("INPUT_INVALID", {
    message: "This server has no dialect with the name in `dialect`.",
    fix: dialects.length === 0 ? "Leave it out." : `Use one of ${dialects.map((dialect) => dialect.name).join(", ")}, or leave it out.`,
    details: { field: "dialect" },
  });
}
