import type { Clock } from "@loopwright/core/ports";

/** Keeps a service that fails from being asked for each request. */
export interface Circuit {
  /** False while it fails, but for one try every five seconds. */
  mayTry(): boolean;
  succeeded(): void;
  failed(): void;
}

const failuresMax = 5;
const pauseMs = 5_000;

export function createCircuit(clock: Clock): Circuit {
  let failures = 0;
  let nextTryAt = 0;
  return {
    mayTry() {
      if (failures < failuresMax) return true;
      const now = clock.now();
      if (now < nextTryAt) return false;
      nextTryAt = now + pauseMs;
      return true;
    },
    succeeded() {
      failures = 0;
    },
    failed() {
      failures += 1;
      nextTryAt = clock.now() + pauseMs;
    },
  };
}
