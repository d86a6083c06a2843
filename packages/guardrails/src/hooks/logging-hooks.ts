import type { Hooks, Json } from "@loopwright/core";

/** Logs the steps of each run at the level `debug`: names, ids, outcomes and counts, and no content. */
export function loggingHooks(): Hooks {
  return {
    name: "logging",
    run: {
      start({ logger, ...where }) {
        logger.log("debug", "A run begins.", placeOf(where));
      },
      end({ logger, result, ...where }) {
        logger.log("debug", "A run has ended.", { ...placeOf(where), status: result.status, reason: result.reason });
      },
    },
    prepare({ logger, model, attempt, ...where }) {
      logger.log("debug", "A model is called.", { ...placeOf(where), turn: where.turn, model, attempt });
    },
    decide({ logger, calls, usage, ...where }) {
      logger.log("debug", "A model has answered.", { ...placeOf(where), turn: where.turn, calls: calls.length, tokens: usage?.output });
    },
    gate({ logger, call, ...where }) {
      logger.log("debug", "A tool is called.", { ...placeOf(where), tool: call.name, callKey: call.callKey });
    },
    review({ logger, call, outcome, ...where }) {
      logger.log("debug", "A tool has ended.", { ...placeOf(where), tool: call.name, callKey: call.callKey, outcome });
    },
  };
}

const placeOf = ({
  sessionId,
  runId,
  agent,
}: {
  readonly sessionId: string;
  readonly runId: string;
  readonly agent: string;
}): {
  readonly [name: string]: Json;
} => ({ sessionId, runId, agent });
