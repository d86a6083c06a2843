import { AgentError, type Tool } from "@loopwright/core";
import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import { calculate } from "./calculate.ts";
import { csvToJson } from "./csv-to-json.ts";
import { currentTime } from "./current-time.ts";
import { jsonQuery } from "./json-query.ts";
import { newUuid } from "./new-uuid.ts";

export interface BuiltinToolsOptions {
  /** Default: the real time. */
  readonly clock?: Pick<Clock, "now">;
  /** IANA name of the zone that `current_time` uses unless the call names another. Default: the zone of the process. */
  readonly timeZone?: string;
  /** Default: `crypto.randomUUID`. */
  readonly randomUuid?: () => string;
}

/** The tools `current_time`, `calculate`, `new_uuid`, `json_query` and `csv_to_json`. @throws AgentError CONFIG_INVALID for an unknown time zone. */
export function builtinTools(options: BuiltinToolsOptions = {}): readonly Tool[] {
  const { clock = systemClock, randomUuid = () => crypto.randomUUID() } = options;
  const timeZone = options.timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
  checkZone(timeZone);
  return [currentTime({ clock, timeZone }), calculate(), newUuid({ randomUuid }), jsonQuery(), csvToJson()];
}

function checkZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch {
    const message = `\`timeZone\` is ${JSON.stringify(timeZone)}, which does not exist.`;
    throw new AgentError("CONFIG_INVALID", { message, fix: "Use an IANA name such as Europe/Berlin." });
  }
}
