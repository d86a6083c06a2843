import { AgentError, type JsonObject } from "@loopwright/core";
import { recordLimits } from "./user-records.ts";

/** The entry as JSON. @throws AgentError PAYLOAD_TOO_LARGE */
export function encodedRecord(value: JsonObject): string {
  const text = JSON.stringify(value);
  if (new TextEncoder().encode(text).length <= recordLimits.valueBytes) return text;
  throw new AgentError("PAYLOAD_TOO_LARGE", {
    message: `The entry has more than ${recordLimits.valueBytes} bytes.`,
    details: { limit: "valueBytes", bytes: recordLimits.valueBytes },
  });
}

/** A revision that no entry has had. */
export const newRevision = (): string => crypto.randomUUID();

/** What a store throws for one entry too many. */
export function recordsFull(): AgentError {
  return new AgentError("STORE_FULL", {
    message: `The user has ${recordLimits.perKindMax} entries of this kind already.`,
    fix: "Delete one of them first.",
  });
}
