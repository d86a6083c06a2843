import type { AgentError } from "@loopwright/core";
import type { Logger, SessionRef } from "@loopwright/core/ports";

/** Alarms that are remembered so as not to be raised again. */
const alarmsMax = 1_000;

/** Tells operators once of each session whose history is damaged or lost. */
export class Alarms {
  readonly #logger: Logger;
  readonly #raised = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The error, to be thrown. */
  raise(error: AgentError, { scope, session }: SessionRef): AgentError {
    const key = `${error.code} ${scope}/${session}`;
    if (!this.#raised.has(key) && this.#raised.size < alarmsMax) {
      this.#raised.add(key);
      this.#logger.log("error", error.message, { code: error.code, scope, session, ...error.details });
    }
    return error;
  }
}
