import type { AgentError } from "../errors.ts";
import { defaultLimits, type RunLimits } from "../loop/facts/run-limits.ts";
import { shownId } from "../message/shown-id.ts";
import { refuseUnknownOptions } from "../unknown-options.ts";

/** Deadlines of one model call, in milliseconds. */
export interface CallDeadlines {
  /** Until the first sign of life. Default 60,000. */
  readonly firstByteMs: number;
  /** Between two pieces of content. Default 60,000; pings alone count for 300,000. */
  readonly idleMs: number;
  /** For the whole call. Default 900,000. */
  readonly totalMs: number;
}

/** Makes the error of an option of the agent. */
export type Invalid = (what: string, fix: string) => AgentError;

const defaultDeadlines: CallDeadlines = { firstByteMs: 60_000, idleMs: 60_000, totalMs: 900_000 };

const knownLimits: { readonly [Name in keyof RunLimits]: true } = {
  turnsMax: true,
  toolCallsMax: true,
  onLimit: true,
  attemptsMax: true,
  toolAttemptsMax: true,
  parallelMax: true,
  abortGraceMs: true,
  tokensMax: true,
  costUsdMax: true,
  durationMs: true,
  depthMax: true,
};
const knownDeadlines: { readonly [Name in keyof CallDeadlines]: true } = { firstByteMs: true, idleMs: true, totalMs: true };

/** A timer with a longer wait fires at once. */
const deadlineMaxMs = 2 ** 31 - 1;

/** Checks the limits and adds the defaults. @throws AgentError CONFIG_INVALID */
export function checkedLimits(agent: string, given: Partial<RunLimits> | undefined, invalid: Invalid): RunLimits {
  refuseUnknownOptions(given ?? {}, knownLimits, `\`limits\` of the agent \`${agent}\``);
  const limits = { ...defaultLimits, ...given };
  if (!["finalize", "stop", "error"].includes(limits.onLimit))
    throw invalid(`\`limits.onLimit\` is ${shownId(String(limits.onLimit))}.`, "Use `finalize`, `stop` or `error`.");
  for (const [name, least] of Object.entries({
    turnsMax: 1,
    toolCallsMax: 0,
    attemptsMax: 1,
    toolAttemptsMax: 1,
    parallelMax: 1,
    abortGraceMs: 0,
    tokensMax: 0,
    costUsdMax: 0,
    durationMs: 0,
    depthMax: 0,
  })) {
    const value = limits[name as "turnsMax"];
    const isMoney = name === "costUsdMax";
    if (!(isMoney ? Number.isFinite(value) : Number.isInteger(value)) || value < least)
      throw invalid(`\`limits.${name}\` is ${shownId(String(value))}.`, `Use a ${isMoney ? "number" : "whole number"} from ${least} on.`);
  }
  return limits;
}

/** Checks the deadlines and adds the defaults. @throws AgentError CONFIG_INVALID */
export function checkedDeadlines(agent: string, given: Partial<CallDeadlines> | undefined, invalid: Invalid): CallDeadlines {
  refuseUnknownOptions(given ?? {}, knownDeadlines, `\`deadlines\` of the agent \`${agent}\``);
  const deadlines = { ...defaultDeadlines, ...given };
  for (const [name, value] of Object.entries(deadlines)) {
    if (!(value > 0 && value <= deadlineMaxMs))
      throw invalid(`\`deadlines.${name}\` is ${shownId(String(value))}.`, `Use 1 to ${deadlineMaxMs}.`);
  }
  return deadlines;
}
