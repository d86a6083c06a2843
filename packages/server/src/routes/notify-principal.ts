import { AgentError } from "@loopwright/core";
import type { Notification, ScopeListener } from "@loopwright/core/ports";
import type { EventCursor, SessionEvent } from "@loopwright/core/protocol";
import type { HostedSession } from "@loopwright/host";
import { type HeldSink, openHeldSink } from "../request/open-held-sink.ts";
import { checkCursor, cursorOf } from "../request/request-cursor.ts";
import type { Call } from "../request/route.ts";
import { createFrameQueue, type FrameQueue } from "../stream/frame-queue.ts";
import { encodeFrames, frameText, plainText, retryFrame } from "../stream/frames.ts";
import { createNotificationsDialect } from "../stream/notifications-dialect.ts";
import { placeOf } from "../stream/reader-place.ts";
import { openSession } from "./open-session.ts";

export interface NotificationsQuery {
  /** `<id>` or `<id>@<cursor>`: sessions whose events come in full. */
  readonly session?: readonly string[] | undefined;
  readonly dialect?: "notifications" | undefined;
}

interface Followed {
  readonly hosted: HostedSession;
  readonly after: EventCursor | undefined;
}

/**
 * One stream for all that concerns a principal: hints about every session of its scope, the events of the sessions it names, and what the
 * product tells it. @throws AgentError SESSION_NOT_FOUND, CURSOR_INVALID, HISTORY_LOST, HISTORY_EXPIRED, INPUT_INVALID, CONNECTION_LIMIT
 */
export async function notifyPrincipal(call: Call, query: NotificationsQuery): Promise<Response> {
  const { principal, scene } = call;
  const { channel } = scene;
  const followed = await openNamed(call, query.session ?? []);
  const { sink, response } = openFor(call, followed);
  sink.write(encodeFrames(`${retryFrame}: connected\n\n`));
  const queue = createFrameQueue(sink, queueBytesOf(call));
  const named = new Set(followed.map(({ hosted }) => hosted.session.id));
  const runOf = (session: string): string | undefined => scene.host.runOf({ scope: principal.scope, session });
  const listener = query.dialect === "notifications" ? dialectListener(queue, runOf) : nativeListener(queue, named);
  const isForUs = ({ to }: Notification): boolean => to === undefined || to === principal.user;
  const stop = channel.subscribeScope(principal.scope, {
    ...listener,
    notification: (notification) => isForUs(notification) && listener.notification(notification),
  });
  sink.onClose(stop);
  for (const { hosted, after } of followed)
    scene.feeds.of(hosted).subscribe({ sink, isShared: true, ...(after ? placeOf(after, hosted.session) : {}) });
  return response;
}

/** Half of what may be queued is for the sink, the other half for the frames that wait beside it. */
const queueBytesOf = ({ scene }: Call): number => scene.limits.streamQueueBytes / 2;

/** The stream; what is followed is given back with it, or at once where it cannot be had. */
function openFor(call: Call, followed: readonly Followed[]): HeldSink {
  const { scene, principal } = call;
  const release = (): void => {
    for (const { hosted } of followed) hosted.release();
  };
  try {
    const opened = openHeldSink(call, scene.streams.take(principal), { queueBytes: queueBytesOf(call) });
    opened.sink.onClose(release);
    return opened;
  } catch (error) {
    release();
    throw error;
  }
}

async function openNamed(call: Call, names: readonly string[]): Promise<readonly Followed[]> {
  const { scene } = call;
  const most = scene.limits.sessionsPerNotifications;
  if (names.length > most)
    throw new AgentError("INPUT_INVALID", {
      message: `${names.length} sessions are named, at most ${most}.`,
      fix: "Open a second stream.",
    });
  const followed = new Map<string, Followed>();
  try {
    for (const name of names) {
      const [id = "", cursor] = name.split("@", 2);
      // Named twice it would be told twice.
      if (followed.has(id)) continue;
      const after = cursor === undefined ? undefined : cursorOf(cursor);
      const hosted = await openSession(call, id);
      followed.set(id, { hosted, after });
      if (after) await checkCursor(after, hosted, scene);
    }
    return [...followed.values()];
  } catch (error) {
    for (const { hosted } of followed.values()) hosted.release();
    throw error;
  }
}

type FullListener = Required<Pick<ScopeListener, "events" | "notification">>;

function nativeListener(queue: FrameQueue, named: ReadonlySet<string>): FullListener {
  return {
    events(session, events) {
      const last = named.has(session) ? undefined : events.findLast((event) => "seq" in event);
      if (last && "seq" in last) queue.push(plainText({ type: "session_hint", sessionId: session, seq: last.seq }), { key: session });
    },
    notification: (notification) => queue.push(plainText({ type: "notification", notification })),
  };
}

function dialectListener(queue: FrameQueue, runOf: (session: string) => string | undefined): FullListener {
  const dialect = createNotificationsDialect(runOf);
  const push = ({ event, data }: { readonly event: string; readonly data: object }): void =>
    queue.push(frameText(`event: ${event}\n`, data), { isSpare: event === "AIMessageDelta" });
  return {
    events: (session: string, events: readonly SessionEvent[]) => dialect.ofEvents(session, events).forEach(push),
    notification: (notification) => push(dialect.ofNotification(notification)),
  };
}
