import { AgentError } from "@loopwright/core";
import { startDeadline } from "@loopwright/core/memory";
import type { ServerContext } from "../server-context.ts";

/** The error of a request that has waited too long for the store. The work of the request may still complete. */
export const tooLate = (answerMs: number): AgentError =>
  new AgentError("STORE_UNAVAILABLE", { message: `The store gave no answer within ${answerMs} ms.`, retryAfterMs: 1_000 });

/**
 * The result of the work. Time in which the process was blocked hardly counts: the store may have answered meanwhile, or be a thread of this process.
 * @throws AgentError STORE_UNAVAILABLE if the work takes longer than `limits.answerMs`: then `onLate` is called, and the result is ignored
 */
export function answerInTime<T>(
  work: Promise<T>,
  { clock, limits }: Pick<ServerContext, "clock" | "limits">,
  onLate: () => void = () => {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = startDeadline(clock, { ms: limits.answerMs }, () => {
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
