import type { Tool } from "@loopwright/core";
import { turnOfLoop } from "../../host/test/turn-of-loop.ts";

/** A tool that emits as much as the test wants while it runs, and leaves little behind. */
export interface FloodTool {
  readonly tool: Tool;
  /** Deltas sent so far. */
  readonly written: number;
  /** Emits a delta of so many bytes; resolves when it was published. */
  pour(bytes: number): Promise<void>;
  stop(): void;
}

export function floodTool(): FloodTool {
  let pending: { readonly delta: string; readonly notified: () => void } | undefined;
  let wake = (): void => {};
  let isOver = false;
  let written = 0;
  return {
    tool: {
      name: "flood",
      description: "Says much.",
      parameters: { type: "object" },
      outputMax: 1_000_000_000,
      timeoutMs: 0,
      async *execute() {
        while (!isOver) {
          if (pending) {
            const { delta, notified } = pending;
            pending = undefined;
            written += 1;
            yield { type: "delta", delta };
            notified();
          } else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
        yield { type: "complete", output: "dry" };
      },
    },
    get written() {
      return written;
    },
    async pour(bytes) {
      await new Promise<void>((notified) => {
        pending = { delta: "w".repeat(bytes), notified };
        wake();
      });
      await turnOfLoop();
    },
    stop() {
      isOver = true;
      wake();
    },
  };
}
