import type { BoundedSink } from "./bounded-sink.ts";
import { encodeFrames, type FrameText } from "./frames.ts";

/** What becomes of a frame for which there is no room. */
export interface FrameUse {
  /** It waits in place of the older frame of this key. Default: it waits in turn. */
  readonly key?: string;
  /** It is dropped: a later frame replaces it. */
  readonly isSpare?: boolean;
}

/** Frames for one sink that cannot be replayed. */
export interface FrameQueue {
  /** Written at once where there is room. Where more would wait than may, the stream is cut: its reader comes back and looks anew. */
  push(text: FrameText, use?: FrameUse): void;
}

/** `waitingBytesMax`: of frames that wait beside what is queued in the sink. */
export function createFrameQueue(sink: BoundedSink, waitingBytesMax: number): FrameQueue {
  const waiting = new Map<string, Uint8Array>();
  let waitingBytes = 0;
  let isFull = false;
  let count = 0;

  function clear(): void {
    waiting.clear();
    waitingBytes = 0;
  }

  function drained(): void {
    isFull = false;
    for (const bytes of waiting.values()) sink.write(bytes);
    clear();
  }

  function wait(text: FrameText, key: string): void {
    const bytes = encodeFrames([...text].join(""));
    waitingBytes += bytes.byteLength - (waiting.get(key)?.byteLength ?? 0);
    waiting.delete(key);
    waiting.set(key, bytes);
    if (waitingBytes <= waitingBytesMax) return;
    clear();
    sink.destroy();
  }

  return {
    push(text, { key, isSpare = false } = {}) {
      if (!isFull && sink.hasRoom(0)) {
        void sink.pour(text);
        return;
      }
      if (isSpare) return;
      count += 1;
      wait(text, key ?? `#${count}`);
      if (isFull) return;
      isFull = true;
      sink.onDrain(drained);
    },
  };
}
