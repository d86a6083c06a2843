import { refKey, type SessionRef } from "@loopwright/core/ports";
import { checkRef } from "../object-keys.ts";
import { storeLimits } from "../store-limits.ts";
import { OpenLog, type OpenLogDeps } from "./open-log.ts";
import { SegmentCache } from "./segment-cache.ts";

/** The logs that this process works on, and some that it has worked on lately. */
export class OpenLogs {
  readonly deps: OpenLogDeps;
  readonly #segments = new SegmentCache();
  readonly #logs = new Map<string, OpenLog>();

  constructor(deps: OpenLogDeps) {
    this.deps = deps;
  }

  /** The one log of a session. To be used at once: an idle one may be forgotten. @throws AgentError INPUT_INVALID */
  of(ref: SessionRef): OpenLog {
    const { scope, session } = checkRef(ref);
    const name = refKey({ scope, session });
    const found = this.#logs.get(name) ?? new OpenLog({ scope, session }, this.deps, this.#segments);
    // The one used last comes last.
    this.#logs.delete(name);
    this.#logs.set(name, found);
    if (this.#logs.size > storeLimits.openLogsMax) this.#forgetOne();
    return found;
  }

  #forgetOne(): void {
    for (const [name, log] of this.#logs) {
      if (!log.isIdle) continue;
      this.#logs.delete(name);
      return;
    }
  }
}
