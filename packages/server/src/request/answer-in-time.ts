import { AgentError } from "@loopwright/core";
import type { ServerScene } from "../server-scene.ts";

/** The error of who has waited for the store for too long. What was asked for may still be done. */
export const tooLate = (answerMs: number): AgentError =>
  new AgentError("STORE_UNAVAILABLE", { message: `The store gave no answer within ${answerMs} ms.`, retryAfterMs: 1_000 });

/** A timer that fires so much later than it was set for was held up by a process that stood still. */
const stoodStillMs = 200;
/** How long an answer that came while the process stood still has to be read and heard. */
const graceMs = 250;

/**
 * What the work gives. A process that stood still first hears what came meanwhile: its timers fire before that is read.
 * @throws AgentError STORE_UNAVAILABLE when it takes longer than `limits.answerMs`; it goes on unheard then, after `onLate`
 */
export function answerInTime<T>(
  work: Promise<T>,
  { clock, limits }: Pick<ServerScene, "clock" | "limits">,
  onLate: () => void = () => {},
): Promise<T> {
  const endsAt = clock.monotonic() + limits.answerMs;
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      onLate();
      reject(tooLate(limits.answerMs));
    };
    let cancel = clock.after(limits.answerMs, () => {
      if (clock.monotonic() - endsAt < stoodStillMs) giveUp();
      else cancel = clock.after(graceMs, giveUp);
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
