import { type ErrorClass, errorTable, type Failure } from "@loopwright/core";

const troubles: ReadonlySet<ErrorClass> = new Set<ErrorClass>(["rate", "overload", "timeout", "network", "unknown"]);

/**
 * What a failure means for the health of the vendor: unhealthy, healthy (the request was refused), or nothing. A failure of a hook, a filter or a store is no
 * evidence against it.
 */
export function healthAfter({ code, retryable, retryAfterMs }: Failure): "trouble" | "answer" | "nothing" {
  if (code === "MODEL_CIRCUIT_OPEN") return "nothing";
  if (code === "MODEL_QUOTA_EXHAUSTED" && retryAfterMs !== undefined) return "trouble";
  if (!code.startsWith("MODEL_") && code !== "CONTEXT_OVERFLOW") return "nothing";
  // A code that only another version knows is of no class.
  const kind: ErrorClass = Object.hasOwn(errorTable, code) ? errorTable[code].class : "unknown";
  if (!troubles.has(kind)) return "answer";
  return retryable ? "trouble" : "nothing";
}
