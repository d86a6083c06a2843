import { createParser } from "eventsource-parser";
import type { ClientContext } from "../client-context.ts";
import { isKnownError, unreachable } from "../client-error.ts";
import { frameChars, silenceMs } from "../client-limits.ts";
import { sendRequest, type WireRequest } from "../send-request.ts";

/** One frame of the stream; its other fields depend on `type`. */
export interface Frame {
  readonly type: string;
}

export interface ConnectOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called when the server answered with 2xx. */
  readonly onOpen: () => void;
  /** The server's `retry:`. */
  readonly onRetry: (ms: number) => void;
}

/**
 * The frames of one connection, all of one read at a time, until the server ends it, it breaks, it is silent for too long or the signal
 * is aborted. @throws AgentError the refusal of the server, SERVER_UNREACHABLE when the connection breaks
 */
export async function* connect(
  client: ClientContext,
  request: WireRequest,
  options: ConnectOptions,
): AsyncGenerator<readonly Frame[], void> {
  const { signal, onOpen, onRetry } = options;
  const ending = new AbortController();
  const either = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
  const watchdog = createWatchdog(client, () => ending.abort());
  let frames: Frame[] = [];
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const parser = createParser({
    maxBufferSize: frameChars,
    onRetry,
    onEvent: ({ data }) => frames.push(JSON.parse(data) as Frame),
  });
  // A server in this process may not connect the body to the signal, so the reader is cancelled here too.
  const cancel = (): void => void reader?.cancel().catch(() => {});
  either.addEventListener("abort", cancel);
  try {
    const response = await sendRequest(client, { ...request, signal: either });
    onOpen();
    const decoder = new TextDecoder();
    reader = response.body?.getReader();
    while (reader && !either.aborted) {
      const { done, value } = await reader.read();
      if (done) return;
      watchdog.touch();
      parser.feed(decoder.decode(value, { stream: true }));
      if (frames.length === 0) continue;
      yield frames;
      frames = [];
    }
  } catch (error) {
    if (signal?.aborted) return;
    throw isKnownError(error) ? error : unreachable(client.url, error);
  } finally {
    watchdog.stop();
    either.removeEventListener("abort", cancel);
    cancel();
    ending.abort();
  }
}

/** Calls `onSilence` once when `touch` was not called for `silenceMs`. Keeps one timer, whatever the number of bytes. */
function createWatchdog({ clock }: ClientContext, onSilence: () => void): { touch(): void; stop(): void } {
  let touchedAt = clock.now();
  const look = (): void => {
    const leftMs = touchedAt + silenceMs - clock.now();
    if (leftMs <= 0) onSilence();
    else stop = clock.after(leftMs, look);
  };
  let stop = clock.after(silenceMs, look);
  return {
    touch() {
      touchedAt = clock.now();
    },
    stop: () => stop(),
  };
}
