import { AgentError } from "@loopwright/core";
import type { ServerContext } from "../server-context.ts";

/** The error of a request that has waited too long for the store. Its work may still complete. */
export const tooLate = (answerMs: number): AgentError =>
  new AgentError("STORE_UNAVAILABLE", { message: `The store gave no answer within ${answerMs} ms.`, retryAfterMs: 1_000 });

/** A timer that fires this much later than it was set for was delayed by a pause of the process. */
const stoodStillMs = 200;
/** The grace period after a pause of the process, for answers that arrived during the pause. */
const graceMs = 250;

/**
 * The result of the work. After a pause of the process its timers fire before the input that arrived meanwhile is read, so that input gets a grace period.
 * @throws AgentError STORE_UNAVAILABLE when it takes longer than `limits.answerMs`; its result is ignored then, after `onLate`
 */
export function answerInTime<T>(
  work: Promise<T>,
  { clock, limits }: Pick<ServerContext, "clock" | "limits">,
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
