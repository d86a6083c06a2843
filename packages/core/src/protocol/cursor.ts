/** The position of a durable event in the history of its session. A reader that reconnects sends it to continue from there. */
export interface EventCursor {
  /** Number of the fact. From 1; 0 is before all. */
  readonly seq: number;
  /** Index among the events of that fact. From 0. */
  readonly k: number;
}

/** Longest text that is parsed. */
const cursorMax = 64;
const pattern = /^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$/;

/** `<seq>.<k>`: the `id:` of the event on the wire. */
export function encodeCursor({ seq, k }: EventCursor): string {
  return `${seq}.${k}`;
}

/** The cursor, or `undefined` for anything that `encodeCursor` cannot have made. */
export function decodeCursor(text: unknown): EventCursor | undefined {
  const found = typeof text === "string" && text.length <= cursorMax ? pattern.exec(text) : null;
  const cursor = { seq: Number(found?.[1]), k: Number(found?.[2]) };
  return Number.isSafeInteger(cursor.seq) && Number.isSafeInteger(cursor.k) ? cursor : undefined;
}

/** Negative when `a` comes before `b`, positive when after it, 0 when they are the same place. */
export function compareCursors(a: EventCursor, b: EventCursor): number {
  return a.seq === b.seq ? a.k - b.k : a.seq - b.seq;
}

/** Greater than the index of any event of a fact. */
const kAfterAll = 65_535;

/** The cursor after all events of the fact `seq`. */
export function cursorAfter(seq: number): EventCursor {
  return { seq, k: kAfterAll };
}
