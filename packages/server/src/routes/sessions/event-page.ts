import type { Clock } from "@loopwright/core/ports";
import { type DurableEvent, encodeCursor } from "@loopwright/core/protocol";
import { z } from "zod";
import type { HttpLimits } from "../../server-limits.ts";
import { charsLeft } from "../../stream/json-in-pieces.ts";

/** How many events one answer may hold, at most. */
export const pageLimitField: z.ZodType<number | undefined> = z.coerce.number().int().min(1).max(1_000).optional();

export interface EventPage {
  readonly events: readonly DurableEvent[];
  /** Cursor of the next page, if more events follow. */
  readonly next?: string;
}

export interface PageOptions {
  readonly limits: Pick<HttpLimits, "pageEvents" | "pageBytes">;
  readonly clock: Clock;
  /** Default and most: `limits.pageEvents`. */
  readonly limit?: number | undefined;
}

/** The first events of a history: as many as a page may hold, of about `pageBytes` together, and at least one. */
export async function readPage(history: AsyncIterable<readonly DurableEvent[]>, options: PageOptions): Promise<EventPage> {
  const { limits, clock, limit = limits.pageEvents } = options;
  const most = Math.min(limit, limits.pageEvents);
  const events: DurableEvent[] = [];
  // `charsLeft` counts each character six times, so the limit is six times as large.
  let left = limits.pageBytes * 6;
  for await (const batch of history) {
    for (const event of batch) {
      const last = events.at(-1);
      if (last && (events.length >= most || left <= 0)) return { events, next: encodeCursor(last) };
      events.push(event);
      left = charsLeft(event, left);
    }
    // Without a pause, a log in memory would block the event loop.
    await new Promise<void>((resolve) => clock.soon(resolve));
  }
  return { events };
}
