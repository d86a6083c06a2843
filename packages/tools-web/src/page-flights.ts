/*
 * Owns: which calls of this process share one fetch.
 * Does not own: what other processes fetch (fetched-in-log).
 */
import type { Clock } from "@loopwright/core/ports";

/** A call that wants a page. */
interface FlightCall {
  /** The page within its run. */
  readonly key: string;
  /** The call. */
  readonly call: string;
  readonly signal: AbortSignal;
}

/** The fetches of a process, one for each page of a run. */
export interface PageFlights<Page> {
  /**
   * The result of the fetch for the page that is under way or has just ended, else of `fetch`, which gets the names of the calls that share it. A failure
   * is that of all of them; where the call that fetches is aborted, another one begins anew.
   */
  join(call: FlightCall, fetch: (calls: ReadonlySet<string>) => Promise<Page>): Promise<Page>;
}

interface Flight<Page> {
  readonly key: string;
  readonly page: Promise<Page>;
  /** Of the call that fetches. */
  readonly signal: AbortSignal;
  /** Grows while it is under way. */
  readonly calls: Set<string>;
}

/** A page stays for so long after its fetch: by then the log of the call has it, or its process has lost the session. */
const keptMs = 60_000;
const keptMax = 64;

/** Flights of one process. */
export function pageFlights<Page>(clock: Pick<Clock, "after">): PageFlights<Page> {
  const flights = new Map<string, Flight<Page>>();
  /** Those that have ended, oldest first. */
  const kept = new Set<Flight<Page>>();
  const drop = (flight: Flight<Page>): void => {
    kept.delete(flight);
    if (flights.get(flight.key) === flight) flights.delete(flight.key);
  };
  const keep = (flight: Flight<Page>): void => {
    kept.add(flight);
    clock.after(keptMs, () => drop(flight), { idle: true });
    const [oldest] = kept;
    if (oldest && kept.size > keptMax) drop(oldest);
  };
  return {
    async join({ key, call, signal }, fetch) {
      for (;;) {
        signal.throwIfAborted();
        const joined = flights.get(key);
        if (!joined) {
          const calls = new Set([call]);
          const flight: Flight<Page> = { key, signal, calls, page: fetch(calls) };
          flights.set(key, flight);
          flight.page.then(
            () => keep(flight),
            () => drop(flight),
          );
          return await flight.page;
        }
        joined.calls.add(call);
        try {
          return await beforeAbort(joined.page, signal);
        } catch (error) {
          if (!joined.signal.aborted || signal.aborted) throw error;
          drop(joined);
        }
      }
    },
  };
}

/** The value, or the reason of the signal when that comes first. */
async function beforeAbort<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
