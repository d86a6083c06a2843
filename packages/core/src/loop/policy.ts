/** Where a tool runs. */
export type ToolHome = "server" | "client";

/**
 * What may happen when it is unknown whether a started tool ended: `pure` and `idempotent` run again under the same key,
 * `once` never does (its `lookup` is called if it has one; otherwise the call is reported as interrupted).
 */
export type ReplayClass = "pure" | "idempotent" | "once";

/** The properties of a tool that the loop needs. They are in `run.started` by value, so that any node can fold the log. */
export interface ToolPolicy {
  readonly home: ToolHome;
  readonly replay: ReplayClass;
  /** The tool can look up the outcome of a call. */
  readonly lookup: boolean;
  /** Runs alone: not beside another call of the same turn. */
  readonly sequential: boolean;
  /** For a server tool how long one attempt may take; for a client tool how long to wait for its answer. 0: no limit. */
  readonly timeoutMs: number;
  /** Whether its calls count against `toolCallsMax`. */
  readonly counts: boolean;
}

/** The policies of tools by name. */
export interface ToolPolicies {
  readonly [name: string]: ToolPolicy;
}

/** The tools of a run's model calls: the run's list, and the list of the last model call if it differs. */
interface ShowsTools {
  readonly tools: ToolPolicies;
  readonly shown?: ToolPolicies;
}

/** The tools of the last model call. Its calls are routed by these alone. */
export const toolsShown = ({ tools, shown = tools }: ShowsTools): ToolPolicies => shown;

/** The policy of a tool of the last model call. The name comes from the model, so inherited members do not count. */
export function policyOfShown(run: ShowsTools, name: string): ToolPolicy | undefined {
  const tools = toolsShown(run);
  return Object.hasOwn(tools, name) ? tools[name] : undefined;
}

/** The route of a call: run here, sent to the client, or answered with an error without a run. */
export type CallRoute = ToolHome | "unknown" | "invalid";

export interface RunLimits {
  /** Committed model calls of a run. Default 10. */
  readonly turnsMax: number;
  /** Tool calls of a run that count. Default 0: no limit. */
  readonly toolCallsMax: number;
  /**
   * `finalize` (default): the last allowed model call goes without tools and with a notice. `stop`: the run completes with reason
   * `limit`. `error`: it fails with LIMIT_REACHED.
   */
  readonly onLimit: "finalize" | "stop" | "error";
  /** Attempts of one model call. Default 3. */
  readonly attemptsMax: number;
  /** Attempts of one call of a pure or idempotent tool. Default 3. */
  readonly toolAttemptsMax: number;
  /** Calls of one turn that run at once. Default 16. */
  readonly parallelMax: number;
  /** How long after an abort a started effect may take to end by itself, in milliseconds. Default 5,000. */
  readonly abortGraceMs: number;
  /** Tokens of a run, prompts and answers; exceeded by one call without tools at the most. Default 0: no limit. */
  readonly tokensMax: number;
  /** US dollars that a run may cost; exceeded by one call without tools at the most. Default 0: no limit. */
  readonly costUsdMax: number;
  /**
   * How long a run may take, in milliseconds, without the time that it waits for people and clients. The model call and the tools that run then are
   * stopped; one call without tools follows. Default 0: no limit.
   */
  readonly durationMs: number;
  /** Children of children: how many sessions may stand above a child that the run, or a child of it, starts. Default 4; 0: it starts none. */
  readonly depthMax: number;
}

export const defaultLimits: RunLimits = {
  turnsMax: 10,
  toolCallsMax: 0,
  onLimit: "finalize",
  attemptsMax: 3,
  toolAttemptsMax: 3,
  parallelMax: 16,
  abortGraceMs: 5_000,
  tokensMax: 0,
  costUsdMax: 0,
  durationMs: 0,
  depthMax: 4,
};
