import type { Clock } from "@loopwright/core/ports";
import type { EventSink } from "./event-sink.ts";
import { encodeFrames } from "./frames.ts";

/** What becomes of a frame for which there is no room. */
export interface FrameUse {
  /** It waits in place of the older frame of this key. Default: it waits in turn. */
  readonly key?: string;
  /** It is dropped: a later frame says it all. */
  readonly isSpare?: boolean;
}

/** Frames for one sink that nobody can ask for again. */
export interface FrameQueue {
  /** Written at once where there is room. Where more would wait than may be queued, the stream is cut: its reader comes back and looks anew. */
  push(text: string, use?: FrameUse): void;
}

export function createFrameQueue(
  sink: EventSink,
  { queueBytes, stallMs, clock }: { readonly queueBytes: number; readonly stallMs: number; readonly clock: Clock },
): FrameQueue {
  const waiting = new Map<string, Uint8Array>();
  let waitingBytes = 0;
  let isFull = false;
  let count = 0;

  function drained(): void {
    isFull = false;
    for (const bytes of waiting.values()) sink.write(bytes);
    waiting.clear();
    waitingBytes = 0;
    watch();
  }

  function watch(): void {
    if (isFull || sink.queuedBytes <= queueBytes) return;
    isFull = true;
    const cancel = clock.after(stallMs, () => sink.destroy());
    sink.onDrain(() => {
      cancel();
      drained();
    });
  }

  function wait(text: string, key: string): void {
    const bytes = encodeFrames(text);
    waitingBytes += bytes.byteLength - (waiting.get(key)?.byteLength ?? 0);
    waiting.delete(key);
    waiting.set(key, bytes);
    if (waitingBytes <= queueBytes) return;
    waiting.clear();
    waitingBytes = 0;
    sink.destroy();
  }

  return {
    push(text, { key, isSpare = false } = {}) {
      if (!isFull) {
        sink.write(encodeFrames(text));
        watch();
      } else if (!isSpare) {
        count += 1;
        wait(text, key ?? `#${count}`);
      }
    },
  };
}
