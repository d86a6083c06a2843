import type { JsonSchema } from "../../message/json.ts";

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
  /** For a server tool, the time of one attempt; for a client tool, the wait for its answer. 0: no limit. */
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

/** A client tool that came with a session: it has no `execute`, so it is plain data. */
export interface DeclaredTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly label?: string;
  /** How long an answer may take. Default: for ever. */
  readonly timeoutMs?: number;
}
