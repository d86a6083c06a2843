import { type ErrorCode, isAgentError } from "@loopwright/core";
import { startDeadline, systemClock } from "@loopwright/core/memory";

/** Throws unless the promise is rejected with an AgentError of this code. */
export async function expectCode(code: ErrorCode, promise: Promise<unknown>): Promise<void> {
  let outcome = "was fulfilled";
  try {
    await promise;
  } catch (error) {
    if (isAgentError(error, code)) return;
    outcome = `was rejected with ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`;
  }
  throw new Error(`Expected a rejection with ${code}; the promise ${outcome}.`);
}

/**
 * Waits until the condition holds, looking again and again, and throws after `withinMs` in which this process could run: a machine that is too busy
 * to run it proves nothing about an adapter.
 */
export async function expectSoon(
  condition: () => boolean,
  { what, withinMs }: { readonly what: string; readonly withinMs: number },
): Promise<void> {
  let isOver = false;
  const cancel = startDeadline(systemClock, { ms: withinMs }, () => {
    isOver = true;
  });
  try {
    while (!condition()) {
      if (isOver) throw new Error(`Not within ${withinMs} ms: ${what}`);
      await new Promise<void>((resolve) => systemClock.after(1, resolve));
    }
  } finally {
    cancel();
  }
}
