import { AgentError } from "@loopwright/core";
import type { ServerScene } from "../server-scene.ts";

/** The error of who has waited for the store for too long. What was asked for may still be done. */
export const tooLate = (answerMs: number): AgentError =>
  new AgentError("STORE_UNAVAILABLE", { message: `The store gave no answer within ${answerMs} ms.`, retryAfterMs: 1_000 });

/** What the work gives. @throws AgentError STORE_UNAVAILABLE when it takes longer than `limits.answerMs`; it goes on unheard then, after `onLate` */
export function answerInTime<T>(
  work: Promise<T>,
  { clock, limits }: Pick<ServerScene, "clock" | "limits">,
  onLate: () => void = () => {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limits.answerMs, () => {
      onLate();
      reject(tooLate(limits.answerMs));
    });
    const settling =
      <Value>(settle: (value: Value) => void) =>
      (value: Value): void => {
        cancel();
        settle(value);
      };
    work.then(settling(resolve), settling(reject));
  });
}
