import type { AgentError } from "../../errors.ts";
import type { FactBody } from "../../loop/fact.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { toolFailure } from "../../tools/tool-failure.ts";
import { closingRefused } from "../setup/session-errors.ts";
import { createGather } from "./gather.ts";
import type { Inbox } from "./inbox.ts";

export interface ClosingsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly inbox: Inbox;
  /** Effects under way, those included whose closing fact is on the way. */
  readonly count: () => number;
  /** Something is in the inbox. */
  readonly look: () => void;
}

/** Hands the closing facts of effects in. Those that end in the same moment are decided on together: one batch, not one for each. */
export function createClosings({ clock, logger, inbox, count, look }: ClosingsOptions): (body: FactBody) => Promise<void> {
  const gather = createGather(clock, look);
  return (body) => {
    const instead = (error: AgentError): readonly FactBody[] => {
      logger.log("error", "The store would not take how a call ended; an error is recorded in its place.", {
        type: body.type,
        code: error.code,
      });
      return [failedClosing(body, closingRefused(error))];
    };
    const done = inbox.put({ bodies: () => [body], instead, needsOwner: true, isClosing: true });
    if (count() < 2) look();
    else gather();
    return done.then(
      () => {},
      () => {},
    );
  };
}

/** Closes the same with an error, and holds nothing that a tool or a model said. What was spent stays spent. */
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
