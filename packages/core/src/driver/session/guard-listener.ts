import type { Deps } from "../setup/deps.ts";
import { reportThrown } from "../setup/user-code.ts";

/** Makes listeners whose errors are their own affair, also those of a listener that is asynchronous. */
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
