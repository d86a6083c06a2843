import { type DurableEvent, type EphemeralEvent, encodeCursor, type SessionEvent } from "@loopwright/core/protocol";

const encoder = new TextEncoder();

/** The bytes of frames, for all who get them. */
export const encodeFrames = (text: string): Uint8Array => encoder.encode(text);

/** An event as a frame of its session's stream. JSON escapes line breaks, so that no content can end a frame. */
export function frameOf(event: SessionEvent): string {
  const data = JSON.stringify(event);
  return "seq" in event ? `id: ${encodeCursor(event)}\nevent: ${event.type}\ndata: ${data}\n\n` : `event: ${event.type}\ndata: ${data}\n\n`;
}

/** An event as a frame of a stream that carries many sessions: it names its own, and has no id. */
export function sharedFrameOf(event: SessionEvent, sessionId: string): string {
  const data = "seq" in event ? event : { sessionId, ...event };
  return `event: ${event.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A frame that is no event of a session. */
export function plainFrame<Body extends { readonly type: string }>(body: Body): string {
  return `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
}

/** What a reader gets who was away: it names the session, in case nothing else has. */
export const snapshotFrame = (event: EphemeralEvent, sessionId: string): string =>
  `event: ${event.type}\ndata: ${JSON.stringify({ sessionId, ...event })}\n\n`;

/** Written first: how long a reader waits before it comes back. */
export const retryFrame = "retry: 2000\n\n";
export const pingFrame: Uint8Array = encodeFrames(": ping\n\n");

export const isDurable = (event: SessionEvent): event is DurableEvent => "seq" in event;
