import type { Deps } from "./session-deps.ts";
import { reportThrown } from "./user-code-errors.ts";

/** Wraps a listener so that its errors, synchronous or not, are logged and stop nothing. */
export function guardListener(deps: Deps): <Args extends readonly unknown[]>(listener: (...args: Args) => void) => (...args: Args) => void {
  const report = (error: unknown): void => reportThrown(deps, "A listener of the session threw an error.", error);
  return (listener) =>
    (...args) => {
      try {
        const returned: unknown = listener(...args);
        if (returned instanceof Promise) returned.catch(report);
      } catch (error) {
        report(error);
      }
    };
}
