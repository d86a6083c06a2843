import type { Tool } from "@loopwright/core";
import { turnOfLoop } from "../../host/test/turn-of-loop.ts";

/** A tool that says as much as the test wants while it runs, and leaves little behind. */
export interface FloodTool {
  readonly tool: Tool;
  /** Deltas said so far. */
  readonly said: number;
  /** Says a delta of so many bytes; resolves when it was told. */
  pour(bytes: number): Promise<void>;
  stop(): void;
}

export function floodTool(): FloodTool {
  let pending: { readonly delta: string; readonly told: () => void } | undefined;
  let wake = (): void => {};
  let isOver = false;
  let said = 0;
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
            const { delta, told } = pending;
            pending = undefined;
            said += 1;
            yield { type: "delta", delta };
            told();
          } else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
        yield { type: "complete", output: "dry" };
      },
    },
    get said() {
      return said;
    },
    async pour(bytes) {
      await new Promise<void>((told) => {
        pending = { delta: "w".repeat(bytes), told };
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
