import { type DurableEvent, type EphemeralEvent, type EventCursor, encodeCursor, type SessionEvent } from "@loopwright/core/protocol";
import { isShortJson, jsonPieces } from "./json-in-pieces.ts";

const encoder = new TextEncoder();

/** The bytes of frames, shared by all readers. */
export const encodeFrames = (text: string): Uint8Array => encoder.encode(text);

/** Browsers use the name `error` for their own errors. */
const nameOf = ({ type }: SessionEvent): string => (type === "error" ? "run_error" : type);

/** An event as a frame of its session's stream. JSON escapes line breaks, so that no content can end a frame. */
export function frameOf(event: SessionEvent): string {
  const data = JSON.stringify(event);
  const frame = `event: ${nameOf(event)}\ndata: ${data}\n\n`;
  return "seq" in event ? `id: ${encodeCursor(event)}\n${frame}` : frame;
}

/** An event as a frame of a stream that carries many sessions: the frame names the event's session, and has no id. */
export function sharedFrameOf(event: SessionEvent, sessionId: string): string {
  const data = "seq" in event ? event : { sessionId, ...event };
  return `event: ${nameOf(event)}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A frame that is no event of a session. */
export function plainFrame<Body extends { readonly type: string }>(body: Body): string {
  return `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
}

/** The text of a frame that may be long: it is made while it is read, never all at once. */
export type FrameText = Iterable<string>;

/** The same frame as `plainFrame` gives. */
export const plainText = <Body extends { readonly type: string }>(body: Body): FrameText => frameText(`event: ${body.type}\n`, body);

/** The same frame as `frameOf` gives. */
export const eventText = (event: SessionEvent): FrameText =>
  frameText("seq" in event ? `id: ${encodeCursor(event)}\nevent: ${nameOf(event)}\n` : `event: ${nameOf(event)}\n`, event);

/** The same frame as `sharedFrameOf` gives. */
export const sharedEventText = (event: SessionEvent, sessionId: string): FrameText =>
  frameText(`event: ${nameOf(event)}\n`, "seq" in event ? event : { sessionId, ...event });

/** The frame of an ephemeral event, with the id of its session, which may not have been sent before. */
export const namedText = (event: EphemeralEvent, sessionId: string): FrameText =>
  frameText(`event: ${event.type}\n`, { sessionId, ...event });

/** A frame with a head of whole lines, and data. */
export const frameText = (head: string, data: object): FrameText =>
  isShortJson(data) ? [`${head}data: ${JSON.stringify(data)}\n\n`] : longText(head, data);

function* longText(head: string, data: object): Generator<string, void> {
  yield `${head}data: `;
  yield* jsonPieces(data);
  yield "\n\n";
}

/** Texts one after another. */
export function* joinTexts(texts: Iterable<FrameText>): Generator<string, void> {
  for (const text of texts) yield* text;
}

/** Written first: how long a reader waits before it connects again. */
export const retryFrame = "retry: 2000\n\n";
export const pingFrame: Uint8Array = encodeFrames(": ping\n\n");

/** A `k` that neither an event nor the cursor of a snapshot has. */
const kOfText = 65_534;

/** The cursor between the whole text of an answer and its end. */
export const textCursor = ({ seq }: DurableEvent): EventCursor => ({ seq: seq - 1, k: kOfText });

/** The whole text of an answer right before its end, with a cursor of its own, so that a reader which reconnects after it does not get it twice. */
export function wholeText(end: DurableEvent, { sessionId, text }: { readonly sessionId: string; readonly text: string }): FrameText {
  return frameText(`id: ${encodeCursor(textCursor(end))}\nevent: text_delta\n`, { type: "text_delta", sessionId, index: 0, delta: text });
}

export const isDurable = (event: SessionEvent): event is DurableEvent => "seq" in event;
