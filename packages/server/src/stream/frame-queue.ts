import type { Clock } from "@loopwright/core/ports";
import type { EventSink } from "./event-sink.ts";
import { encodeFrames } from "./frames.ts";

/** Frames for one sink that may be dropped when its reader is slow. */
export interface FrameQueue {
  /** Written at once where there is room. Else the newest frame of a key takes the place of the older one; without a key it waits in turn. */
  push(text: string, key?: string): void;
}

/** Frames that wait; the oldest of more are dropped. */
const waitingMax = 1_000;

export function createFrameQueue(
  sink: EventSink,
  { queueBytes, stallMs, clock }: { readonly queueBytes: number; readonly stallMs: number; readonly clock: Clock },
): FrameQueue {
  const waiting = new Map<string, string>();
  let isFull = false;
  let count = 0;

  function drained(): void {
    isFull = false;
    const text = [...waiting.values()].join("");
    waiting.clear();
    if (text !== "") sink.write(encodeFrames(text));
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

  return {
    push(text, key) {
      if (!isFull) {
        sink.write(encodeFrames(text));
        watch();
        return;
      }
      count += 1;
      const place = key ?? `#${count}`;
      waiting.delete(place);
      waiting.set(place, text);
      const [oldest] = waiting.keys();
      if (waiting.size > waitingMax && oldest !== undefined) waiting.delete(oldest);
    },
  };
}
