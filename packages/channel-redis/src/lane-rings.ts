import type { SessionRef } from "@loopwright/core/ports";
import type { EphemeralEvent, SessionEvent } from "@loopwright/core/protocol";
import { channelLimits } from "./channel-limits.ts";
import { continues, type DeltaEvent, decodePiece, encodePiece, type Piece, placeOf } from "./pieces.ts";
import { ringKey } from "./topic-name.ts";

/*
 * The ring of a lane is two strings in Redis, its halves. Text is written at the end of one; when it is full, the other begins anew. Every
 * write names its offset, so that one sent twice changes nothing; and it costs what is new, however long the lane is.
 * A line is a list of pieces, or a list of texts: deltas that continue where the line before ended.
 */

/** A command to Redis. */
export type Command = readonly [string, ...string[]];

interface Lane {
  readonly key: (half: 0 | 1) => string;
  half: 0 | 1;
  /** Of the half; 0: it begins anew. */
  sizeBytes: number;
  /** The run that the last line ended with, if it did. */
  open: { readonly first: DeltaEvent; count: number } | undefined;
  usedAt: number;
}

/** Records the events of lanes, for readers that join in the middle. */
export interface LaneRings {
  /** The commands that put the ephemeral ones of these pieces into their rings. `now`: monotonic. */
  write(ref: SessionRef, pieces: readonly Piece[], now: number): readonly Command[];
  /** Begins every ring anew: Redis refused to append to some. */
  forget(): void;
}

export function createLaneRings({ prefix }: { readonly prefix: string }): LaneRings {
  /** The one used longest ago first. */
  const lanes = new Map<string, Lane>();

  function laneAt(place: SessionRef & { readonly lane: number }, now: number): Lane {
    const key = ringKey(prefix, place);
    const name = key(0);
    const known = lanes.get(name);
    // Redis has forgotten it by now.
    const isGone = known === undefined || known.usedAt + channelLimits.ringMs <= now;
    const lane: Lane = isGone ? { key, half: 0, sizeBytes: 0, open: undefined, usedAt: now } : known;
    lane.usedAt = now;
    lanes.delete(name);
    lanes.set(name, lane);
    for (const [oldest, { usedAt }] of lanes) {
      if (lanes.size <= channelLimits.lanes && usedAt + channelLimits.ringMs > now) break;
      lanes.delete(oldest);
    }
    return lane;
  }

  return {
    write(ref, pieces, now) {
      const byLane = new Map<number, Piece[]>();
      for (const piece of pieces) {
        const place = placeOf(piece);
        if (!place) continue;
        const own = byLane.get(place.lane);
        if (own) own.push(piece);
        else byLane.set(place.lane, [piece]);
      }
      return [...byLane].flatMap(([lane, own]) => writeLane(laneAt({ ...ref, lane }, now), own));
    },
    forget: () => lanes.clear(),
  };
}

const ttlMs = String(channelLimits.ringMs);
const halfBytes = channelLimits.ringBytes / 2;

function writeLane(lane: Lane, pieces: readonly Piece[]): readonly Command[] {
  let { text, open } = linesOf(pieces, lane.open);
  let sizeBytes = Buffer.byteLength(text);
  if (sizeBytes > halfBytes) {
    const middle = pieces.length >> 1;
    if (middle > 0) return [...writeLane(lane, pieces.slice(0, middle)), ...writeLane(lane, pieces.slice(middle))];
    // Larger than there is room for: the ring has a hole here.
    lane.open = undefined;
    return [];
  }
  if (lane.sizeBytes + sizeBytes > halfBytes) {
    lane.half = lane.half === 0 ? 1 : 0;
    lane.sizeBytes = 0;
    // A half can be read without the other.
    ({ text, open } = linesOf(pieces, undefined));
    sizeBytes = Buffer.byteLength(text);
  }
  const key = lane.key(lane.half);
  const offset = lane.sizeBytes;
  lane.sizeBytes += sizeBytes;
  lane.open = open;
  if (offset === 0) return [["SET", key, text, "PX", ttlMs]];
  return [
    ["SETRANGE", key, String(offset), text],
    ["PEXPIRE", key, ttlMs],
  ];
}

/** `open`: the run at the end of the line before. */
function linesOf(pieces: readonly Piece[], open: Lane["open"]): { readonly text: string; readonly open: Lane["open"] } {
  const [head, ...rest] = pieces;
  const goes = open && head && "first" in head && continues(open.first, open.count, head.first) ? head.deltas : undefined;
  const whole = goes ? rest : pieces;
  const last = whole.at(-1);
  let text = goes ? `${JSON.stringify(goes)}\n` : "";
  if (whole.length > 0) text += `[${whole.map(encodePiece).join(",")}]\n`;
  if (last) return { text, open: "first" in last ? { first: last.first, count: last.deltas.length } : undefined };
  return { text, open: open && goes && { first: open.first, count: open.count + goes.length } };
}

/** The events of the halves of a ring, by `n`, each once. What cannot be read is left out. */
export function readRing(halves: readonly (string | null)[]): readonly EphemeralEvent[] {
  const events = halves.flatMap((half) => readHalf(half ?? "")).sort((a, b) => a.n - b.n);
  return events.filter(({ n }, index) => n !== events[index - 1]?.n);
}

function readHalf(text: string): readonly EphemeralEvent[] {
  const events: SessionEvent[] = [];
  /** Whether the line before could be read: a line of texts continues where it ended. */
  let isWhole = false;
  // Zeroes stand for what Redis has lost: it was restarted, and the next line was written where it belongs.
  let start = 0;
  while (text.charCodeAt(start) === 0) start++;
  for (const line of text.slice(start).split("\n")) {
    if (line === "") continue;
    try {
      const pieces: unknown = JSON.parse(line);
      if (!Array.isArray(pieces)) throw new TypeError("Not a line of a ring.");
      if (typeof pieces[0] !== "string") for (const piece of pieces) decodePiece(piece, events);
      else if (isWhole) proceed(pieces, events);
      else continue;
      isWhole = true;
    } catch {
      isWhole = false;
    }
  }
  return events.filter((event) => "lane" in event);
}

function proceed(texts: readonly string[], events: SessionEvent[]): void {
  const last = events.at(-1);
  if (!last || !("delta" in last)) throw new TypeError("A delta continues no earlier event of the ring.");
  for (const [index, delta] of texts.entries()) events.push({ ...last, n: last.n + 1 + index, delta });
}
