import type { Notification } from "@loopwright/core/ports";
import type { SessionEvent } from "@loopwright/core/protocol";
import { decodePiece, encodePiece, type Piece } from "./pieces.ts";
import { idOfPart, idPart } from "./topic-name.ts";

/*
 * One message of a topic: what one node sends about one scope at once.
 *
 *   1 <node> <id> <id of the one before, 0: unknown>      head
 *   <session> [<piece>,...]                               events of a session
 *   ! <notification>
 *   ? <session>                                           something of this session was left out
 *   ?                                                     something of any session was left out
 *
 * JSON holds no line break of its own. A listener to some sessions parses the lines of those alone.
 */
const version = "1";

/** What one node sends about one scope at once. */
export interface Frame {
  /** The sender: one `redisChannel` of one process. */
  readonly node: string;
  /** Increases with every frame of the node. */
  readonly id: number;
  /** The id of the node's previous frame in this scope; 0 if it is no longer known. */
  readonly previous: number;
  readonly lines: readonly FrameLine[];
}

export type FrameLine =
  | { readonly session: string; readonly pieces: readonly Piece[] }
  | { readonly notification: Notification }
  /** `null`: any. */
  | { readonly missed: string | null };

/** The frame as text. */
export function encodeFrame({ node, id, previous, lines }: Frame): string {
  const text = [`${version} ${node} ${id} ${previous}`];
  for (const line of lines) {
    if ("pieces" in line) text.push(`${idPart(line.session)} [${line.pieces.map(encodePiece).join(",")}]`);
    else if ("notification" in line) text.push(`! ${JSON.stringify(line.notification)}`);
    else text.push(line.missed === null ? "?" : `? ${idPart(line.missed)}`);
  }
  return text.join("\n");
}

export interface FrameHead {
  readonly node: string;
  readonly id: number;
  readonly previous: number;
}

/** The head of a frame; `undefined` if this version cannot read it. */
export function headOf(text: string): FrameHead | undefined {
  const end = text.indexOf("\n");
  const [spoken, node, id, previous] = (end < 0 ? text : text.slice(0, end)).split(" ");
  if (spoken !== version || !node || !id || !previous) return undefined;
  return { node, id: Number(id), previous: Number(previous) };
}

/** Receives the content of a frame. */
export interface FrameReader {
  /** True if the reader needs the events of a session. */
  wants(session: string): boolean;
  events(session: string, events: readonly SessionEvent[]): void;
  notification(notification: Notification): void;
  missed(session: string | null): void;
}

/** Calls the reader for each line. @throws the error of the parser, for a frame that no Loopwright node has written */
export function readFrame(text: string, reader: FrameReader): void {
  const [, ...lines] = text.split("\n");
  for (const line of lines) {
    const space = line.indexOf(" ");
    const [kind, rest] = space < 0 ? [line, ""] : [line.slice(0, space), line.slice(space + 1)];
    if (kind === "?") reader.missed(rest === "" ? null : idOfPart(rest));
    else if (kind === "!") reader.notification(notificationOf(JSON.parse(rest)));
    else {
      const session = idOfPart(kind);
      if (reader.wants(session)) reader.events(session, eventsOf(JSON.parse(rest)));
    }
  }
}

function eventsOf(pieces: unknown): readonly SessionEvent[] {
  if (!Array.isArray(pieces)) throw new TypeError("Not a list of events.");
  const events: SessionEvent[] = [];
  for (const piece of pieces) decodePiece(piece, events);
  return events;
}

function notificationOf(value: unknown): Notification {
  if (typeof value !== "object" || value === null || !("type" in value) || typeof value.type !== "string")
    throw new TypeError("Not a notification.");
  return value as Notification;
}
