import { refKey, type SessionRef } from "@loopwright/core/ports";
import { checkRef } from "../object-keys.ts";
import { storeLimits } from "../store-limits.ts";
import { OpenLog, type OpenLogDeps } from "./open-log.ts";
import { SegmentCache } from "./segment-cache.ts";

/** The logs that this process uses, and a number of recently used ones. */
export class OpenLogs {
  readonly deps: OpenLogDeps;
  readonly #segments = new SegmentCache();
  readonly #logs = new Map<string, OpenLog>();

  constructor(deps: OpenLogDeps) {
    this.deps = deps;
  }

  /** The log of a session. Use it at once: an idle one may be dropped. @throws AgentError INPUT_INVALID */
  of(ref: SessionRef): OpenLog {
    const { scope, session } = checkRef(ref);
    const name = refKey({ scope, session });
    const found = this.#logs.get(name) ?? new OpenLog({ scope, session }, this.deps, this.#segments);
    // The most recently used log is the last one of the map.
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
