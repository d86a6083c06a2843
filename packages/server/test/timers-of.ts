import { vi } from "vitest";

/**
 * The timers that code of a path with this part has set, and that have neither run nor been cleared. Other tests' code in this process may set timers
 * of its own meanwhile. Until `vi.restoreAllMocks()`.
 */
export function timersOf(part: string): ReadonlySet<unknown> {
  const waiting = new Set<unknown>();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: (...args: unknown[]) => void, ...rest: [number?, ...unknown[]]) => {
    if (!new Error().stack?.includes(part)) return set(run, ...rest);
    const timer = set(
      (...args: unknown[]) => {
        waiting.delete(timer);
        run(...args);
      },
      ...rest,
    );
    waiting.add(timer);
    return timer;
  }) as typeof setTimeout);
  vi.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
    waiting.delete(timer);
    clear(timer);
  });
  return waiting;
}
