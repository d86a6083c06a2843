import { failureOf } from "../errors.ts";
import type { Deps } from "./deps.ts";

/** Makes listeners whose errors are their own affair. */
export function guardListener({
  logger,
  sessionId,
}: Deps): <Args extends readonly unknown[]>(listener: (...args: Args) => void) => (...args: Args) => void {
  return (listener) =>
    (...args) => {
      try {
        listener(...args);
      } catch (error) {
        logger.log("error", "A listener of the session threw.", { session: sessionId, error: failureOf(error).message });
      }
    };
}
