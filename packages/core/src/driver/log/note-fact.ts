import { AgentError } from "../../errors.ts";
import type { FactBody } from "../../loop/fact.ts";
import type { Json } from "../../message/json.ts";
import { jsonBytes } from "../../message/json-bytes.ts";
import { driverLimits } from "../setup/driver-limits.ts";
import { checkPayload } from "./spill-large-values.ts";

/** A note of user code, with its run and call. */
export interface Note {
  readonly kind: string;
  readonly data: Json;
  readonly runId?: string;
  readonly callKey?: string;
}

/**
 * The fact of a note of user code.
 * @throws AgentError INPUT_INVALID when it is not JSON or is too large
 */
export function noteFact({ kind, data, ...place }: Note): FactBody {
  checkPayload(data, "The note");
  const bytes = jsonBytes({ kind, data });
  const { noteBytes } = driverLimits;
  if (bytes <= noteBytes) return { type: "note.recorded", kind, data, ...place };
  throw new AgentError("INPUT_INVALID", {
    message: `A note of ${bytes} bytes is too large: at most ${noteBytes} are kept.`,
    fix: "Keep large data in a store of your own, and note where it is.",
  });
}
