import type { SessionEvent } from "@loopwright/core/protocol";

/** A delta of any kind: an event of a lane that appends to a text. */
export type DeltaEvent = Extract<SessionEvent, { readonly delta: string }>;

/** Deltas of one kind that follow each other in their lane without a hole: they differ in `n` and `delta` alone. */
export interface Run {
  readonly first: DeltaEvent;
  /** Non-empty; the first is that of `first`. */
  readonly deltas: string[];
  /** About how many it takes. */
  sizeBytes: number;
}

/** Any other event, encoded when it came: it may be large, and counts with its true size. */
export interface Single {
  readonly json: string;
  /** Absent: the event is durable. */
  readonly at?: { readonly lane: number; readonly n: number };
}

/** Events as they wait to be sent. */
export type Piece = Run | Single;

const isDelta = (event: SessionEvent): event is DeltaEvent => "delta" in event && typeof event.delta === "string";

/** What the fields of an event beside its text may cost, and what stands between two texts. */
const fieldsBytes = 96;
const commaBytes = 3;
/** A longer run is two, so that there is room for each in a ring. */
const runBytes = 64 * 1024;

/** Adds an event at the end of the pieces; gives about how many bytes it adds. */
export function addEvent(pieces: Piece[], event: SessionEvent): number {
  if (!isDelta(event)) {
    const json = JSON.stringify(event);
    pieces.push("lane" in event ? { json, at: { lane: event.lane, n: event.n } } : { json });
    return json.length;
  }
  const last = pieces.at(-1);
  const isNext = last && "first" in last && last.sizeBytes < runBytes && continues(last.first, last.deltas.length, event);
  const sizeBytes = event.delta.length + (isNext ? commaBytes : fieldsBytes);
  if (isNext) {
    last.deltas.push(event.delta);
    last.sizeBytes += sizeBytes;
  } else pieces.push({ first: event, deltas: [event.delta], sizeBytes });
  return sizeBytes;
}

/** About how many bytes a piece takes: the sum of what `addEvent` gave for it. */
export function sizeOf(piece: Piece): number {
  return "first" in piece ? piece.sizeBytes : piece.json.length;
}

/** Whether a delta is the next one of a run of so many. */
export function continues(first: DeltaEvent, count: number, next: DeltaEvent): boolean {
  if (next.n !== first.n + count || next.lane !== first.lane) return false;
  const [before, after]: readonly { readonly [name: string]: unknown }[] = [first, next];
  for (const name in after) if (name !== "n" && name !== "delta" && before?.[name] !== after[name]) return false;
  for (const name in before) if (!(name in next)) return false;
  return true;
}

/** The piece as one line of JSON: an event, whose `delta` is a list when it stands for a run. */
export function encodePiece(piece: Piece): string {
  if (!("first" in piece)) return piece.json;
  const [delta, ...more] = piece.deltas;
  return JSON.stringify(more.length === 0 ? piece.first : { ...piece.first, delta: [delta, ...more] });
}

/** Where in which lane a piece stands; `undefined` for a durable event. */
export function placeOf(piece: Piece): { readonly lane: number; readonly n: number; readonly count: number } | undefined {
  if ("first" in piece) return { lane: piece.first.lane, n: piece.first.n, count: piece.deltas.length };
  return piece.at && { ...piece.at, count: 1 };
}

/** Adds the events of a decoded piece. @throws TypeError when it is none. */
export function decodePiece(piece: unknown, into: SessionEvent[]): void {
  if (isRun(piece)) for (const [index, delta] of piece.delta.entries()) into.push({ ...piece, n: piece.n + index, delta });
  else if (isEvent(piece)) into.push(piece);
  else throw new TypeError("Not an event.");
}

type EncodedRun = Omit<DeltaEvent & { readonly type: "text_delta" }, "delta"> & { readonly delta: readonly string[] };

function isRun(piece: unknown): piece is EncodedRun {
  return typeof piece === "object" && piece !== null && "delta" in piece && Array.isArray(piece.delta) && isEvent(piece);
}

/** What other nodes send is trusted as far as this: they hold the same key to Redis. */
function isEvent(piece: unknown): piece is SessionEvent {
  if (typeof piece !== "object" || piece === null || !("type" in piece) || typeof piece.type !== "string") return false;
  if ("lane" in piece) return typeof piece.lane === "number" && "n" in piece && typeof piece.n === "number";
  return "seq" in piece && typeof piece.seq === "number" && "k" in piece && typeof piece.k === "number";
}
