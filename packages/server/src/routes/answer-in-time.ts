import { AgentError } from "@loopwright/core";
import { startDeadline } from "@loopwright/core/memory";
import type { ServerContext } from "../server-context.ts";

/** The error of a request that has waited too long for the store. Its work may still complete. */
export const tooLate = (answerMs: number): AgentError =>
  new AgentError("STORE_UNAVAILABLE", { message: `The store gave no answer within ${answerMs} ms.`, retryAfterMs: 1_000 });

/**
 * The result of the work. Time in which the process was blocked or starved hardly counts: the store may have answered meanwhile, or be a thread of this process.
 * @throws AgentError STORE_UNAVAILABLE when it takes longer than `limits.answerMs`; its result is ignored then, after `onLate`
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
