import { AgentError, type Clock, isAgentError } from "@loopwright/core/protocol";
import { deliveryPauseMaxMs, deliveryPauseMs } from "./chat-limits.ts";

/** What the log of the process learns of a chat. */
export type ReportProblem = (message: string, cause: unknown) => void;

interface DeliverParts {
  readonly clock: Pick<Clock, "after">;
  readonly signal: AbortSignal;
  readonly report: ReportProblem;
}

/**
 * Delivers until the vendor takes it; `undefined` for what it will never take, which is reported.
 * @throws AgentError FORBIDDEN when the bot may no longer write there; the reason of the signal
 */
export async function deliver<T>({ clock, signal, report }: DeliverParts, send: () => Promise<T>): Promise<T | undefined> {
  for (let failures = 0; ; failures++) {
    signal.throwIfAborted();
    try {
      return await send();
    } catch (error) {
      if (isAgentError(error, "FORBIDDEN")) throw error;
      if (isAgentError(error, "INPUT_INVALID")) {
        report("The chat vendor refused a message, which was left out.", error);
        return undefined;
      }
      const askedMs = isAgentError(error) ? error.retryAfterMs : undefined;
      if (failures === 0 && askedMs === undefined) report("A message to a chat could not be delivered and is sent again.", error);
      await pause(clock, askedMs ?? Math.min(deliveryPauseMaxMs, deliveryPauseMs * 2 ** failures), signal);
    }
  }
}

/** Resolves after this time. @throws the reason of the signal */
export function pause(clock: Pick<Clock, "after">, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel();
      reject(signal.reason instanceof Error ? signal.reason : new AgentError("RUN_ABORTED", { message: "The channel was closed." }));
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
