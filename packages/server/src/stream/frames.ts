import { type DurableEvent, type EphemeralEvent, type EventCursor, encodeCursor, type SessionEvent } from "@loopwright/core/protocol";

const encoder = new TextEncoder();

/** The bytes of frames, for all who get them. */
export const encodeFrames = (text: string): Uint8Array => encoder.encode(text);

/** Under `error` a browser tells of its own errors. */
const nameOf = ({ type }: SessionEvent): string => (type === "error" ? "run_error" : type);

/** An event as a frame of its session's stream. JSON escapes line breaks, so that no content can end a frame. */
export function frameOf(event: SessionEvent): string {
  const data = JSON.stringify(event);
  const frame = `event: ${nameOf(event)}\ndata: ${data}\n\n`;
  return "seq" in event ? `id: ${encodeCursor(event)}\n${frame}` : frame;
}

/** An event as a frame of a stream that carries many sessions: it names its own, and has no id. */
export function sharedFrameOf(event: SessionEvent, sessionId: string): string {
  const data = "seq" in event ? event : { sessionId, ...event };
  return `event: ${nameOf(event)}\ndata: ${JSON.stringify(data)}\n\n`;
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

/** An index that no event has, and no cursor of a snapshot. */
const kOfText = 65_534;

/** The place between the text of an answer that is told whole and its end. */
export const textCursor = ({ seq }: DurableEvent): EventCursor => ({ seq: seq - 1, k: kOfText });

/** The whole text of an answer right before its end, with a place of its own: who comes back after it is not told it again. */
export function wholeTextFrame(end: DurableEvent, { sessionId, text }: { readonly sessionId: string; readonly text: string }): string {
  return `id: ${encodeCursor(textCursor(end))}\nevent: text_delta\ndata: ${JSON.stringify({ type: "text_delta", sessionId, index: 0, delta: text })}\n\n`;
}

export const isDurable = (event: SessionEvent): event is DurableEvent => "seq" in event;
