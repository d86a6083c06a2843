import type { AgentError } from "@loopwright/core/protocol";
import type { ClientContext } from "../client-context.ts";
import { isKnownError, unreachable } from "../client-error.ts";
import { retryCapMs, unansweredCapMs } from "../client-limits.ts";
import { mayPass, type WireRequest } from "../send-request.ts";
import { createBackOff, sleep } from "./back-off.ts";
import { connect, type Frame } from "./connect.ts";

/** How the connection of a stream stands. */
export type ConnectionState =
  | { readonly state: "connecting" }
  | { readonly state: "open" }
  /** It broke and is made again after a while. */
  | { readonly state: "waiting"; readonly retryInMs: number; readonly error?: AgentError }
  /** For good. */
  | { readonly state: "closed"; readonly error?: AgentError };

export interface WatchOptions {
  /** What to ask for, before each connection. */
  readonly request: () => WireRequest;
  /** Called with the refusal of the server; true: ask again at once, because `request` now asks for something else. */
  readonly onRefused?: (error: AgentError) => boolean | Promise<boolean>;
  /** Whether to try again after so many failures in a row, and this wait. Default: always. */
  readonly mayWait?: (failures: number, waitMs: number) => boolean;
  readonly onState?: ((state: ConnectionState) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The frames of a stream over any number of connections: made again, with jitter, whenever one ends. Ends when the signal is aborted.
 * @throws AgentError what the server refuses for good
 */
export async function* watch(client: ClientContext, options: WatchOptions): AsyncGenerator<readonly Frame[], void> {
  const { request, onRefused, mayWait, onState = () => {}, signal } = options;
  const backOff = createBackOff(client);
  const known = (thrown: unknown): AgentError => (isKnownError(thrown) ? thrown : unreachable(client.url, thrown));
  let last: AgentError | undefined;
  try {
    while (!signal?.aborted) {
      let error: AgentError | undefined;
      onState({ state: "connecting" });
      try {
        const connection = { signal, onOpen: () => onState({ state: "open" }), onRetry: backOff.setBase };
        for await (const frames of connect(client, request(), connection)) {
          backOff.reset();
          yield frames;
        }
      } catch (thrown) {
        error = known(thrown);
        try {
          if (await onRefused?.(error)) continue;
        } catch (again) {
          error = known(again);
        }
        if (!mayPass(error)) throw error;
      }
      if (signal?.aborted) return;
      // An execution counts its failures, and gives up: shorter pauses would let it do so earlier.
      const capMs = error?.code === "SERVER_UNREACHABLE" && !mayWait ? unansweredCapMs : retryCapMs;
      const retryInMs = backOff.next(error?.retryAfterMs, capMs);
      if (mayWait?.(backOff.failures, retryInMs) === false) throw error ?? unreachable(client.url);
      onState({ state: "waiting", retryInMs, ...(error ? { error } : {}) });
      await sleep(client.clock, retryInMs, signal);
    }
  } catch (error) {
    if (isKnownError(error)) last = error;
    throw error;
  } finally {
    onState({ state: "closed", ...(last ? { error: last } : {}) });
  }
}
