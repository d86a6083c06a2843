import type { AgentError } from "../../errors.ts";
import type { FactBody } from "../../loop/fact.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { toolFailure } from "../../tools/tool-failure.ts";
import { closingRefused } from "../setup/session-errors.ts";
import { createDebounce } from "./debounce.ts";
import type { Inbox } from "./inbox.ts";

export interface EffectEndsParts {
  readonly inbox: Inbox;
  readonly session: {
    /** Called when a closing fact is in the inbox. */
    interrupt(): void;
  };
}

/** Puts the closing facts of effects into the inbox. Effects that end at the same moment are recorded in one batch. */
export class EffectEnds {
  readonly #logger: Logger;
  readonly #parts: EffectEndsParts;
  readonly #interruptSoon: () => void;

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }, parts: EffectEndsParts) {
    this.#logger = logger;
    this.#parts = parts;
    this.#interruptSoon = createDebounce(clock, () => parts.session.interrupt());
  }

  /** Resolves when the fact is recorded, or void. `running`: the number of running effects, including this one. */
  add(body: FactBody, running: number): Promise<void> {
    const { inbox, session } = this.#parts;
    const instead = (error: AgentError): readonly FactBody[] => this.#failed(body, error);
    const done = inbox.put({ bodies: () => [body], instead, needsOwner: true, isClosing: true });
    if (running < 2) session.interrupt();
    else this.#interruptSoon();
    return done.then(ignored, ignored);
  }

  #failed(body: FactBody, error: AgentError): readonly FactBody[] {
    const fields = { type: body.type, code: error.code };
    this.#logger.log("error", "The store refused the end of a call; an error is recorded in its place.", fields);
    return [failedClosing(body, closingRefused(error))];
  }
}

const ignored = (): void => {};

/** The closing fact of the same effect as an error, without content of the tool or the model. Usage and cost are kept. */
function failedClosing(body: FactBody, error: AgentError): FactBody {
  switch (body.type) {
    case "tool.finished": {
      const { type, runId, callKey, usage, cost } = body;
      return { type, runId, callKey, ...toolFailure(error, { name: callKey }), ...(usage ? { usage } : {}), ...(cost ? { cost } : {}) };
    }
    case "model.finished":
    case "model.failed": {
      const { runId, turn, attempt, usage, cost } = body;
      const failure = { code: error.code, message: error.message, retryable: false };
      return { type: "model.failed", runId, turn, attempt, failure, ...(usage ? { usage } : {}), ...(cost ? { cost } : {}) };
    }
    default:
      return body;
  }
}
