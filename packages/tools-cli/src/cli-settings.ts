import { isAbsolute, resolve } from "node:path";
import { AgentError, type ToolContext } from "@loopwright/core";
import { checkProgram } from "./check-program.ts";
import type { Variables } from "./child-variables.ts";
import { findIsolation, type Isolation } from "./isolation.ts";
import { type CliLimits, type CliProgram, defaultCliLimits } from "./program.ts";

export interface CliToolOptions {
  /** What may be run. Nothing else is. */
  readonly programs: readonly CliProgram[];
  /** Absolute path of the working directory of all calls. Default: `context.files` of the call. */
  readonly directory?: string;
  /** Where the variables that programs list are found. Default: none are. */
  readonly environment?: Variables;
  readonly limits?: Partial<CliLimits>;
  /**
   * `required`: a call fails where the system has no namespaces or resource limits. `available` (default): it is kept apart as far as the system can,
   * and the operator's log has a warning.
   */
  readonly isolation?: "required" | "available";
  /** The name of the tool. Default `cli_execute`. */
  readonly name?: string;
  /** Default `once`: a call whose end is unknown is not run again. Another class is for a tool all of whose programs may run twice. */
  readonly replay?: "once" | "idempotent" | "pure";
}

/** The checked options. */
export interface CliSettings {
  readonly programs: ReadonlyMap<string, CliProgram>;
  readonly environment: Variables;
  readonly limits: CliLimits;
  directoryOf(context: Pick<ToolContext, "files">): string;
  /** @throws AgentError TOOL_FAILED where more is required than the system has */
  isolation(context: Pick<ToolContext, "logger">): Promise<Isolation>;
}

/** The options with their defaults. @throws AgentError CONFIG_INVALID */
export function cliSettings({
  programs,
  directory,
  environment = {},
  isolation: wanted = "available",
  ...options
}: CliToolOptions): CliSettings {
  const limits: CliLimits = { ...defaultCliLimits, ...options.limits };
  for (const [name, value] of Object.entries(limits))
    if (!(Number.isSafeInteger(value) && value > 0)) throw invalid(`\`limits.${name}\` is ${value}.`, "Use a whole number above 0.");
  if (programs.length === 0) throw invalid("The list of programs is empty.", "List at least one program, or leave the tool out.");
  if (directory !== undefined && !isAbsolute(directory)) throw invalid("`directory` is not an absolute path.", "Pass an absolute path.");
  const byName = new Map<string, CliProgram>();
  for (const program of programs) {
    checkProgram(program, new Set(byName.keys()));
    byName.set(program.name, program);
  }
  let hasWarned = false;
  return {
    programs: byName,
    environment,
    limits,
    directoryOf({ files }) {
      const found = directory ?? files?.directory;
      if (found === undefined || !isAbsolute(found))
        throw invalid("The tool that runs programs has no working directory.", "Pass `directory`, or give the agent `files`.");
      return resolve(found);
    },
    async isolation({ logger }) {
      const isolation = await findIsolation();
      if (isolation.namespaces && isolation.resourceLimits) return isolation;
      const lacks = isolation.namespaces ? "resource limits (prlimit)" : "namespaces of users (unshare)";
      if (wanted === "required")
        throw new AgentError("TOOL_FAILED", {
          message: `This system has no ${lacks}, which keep programs apart. Nothing was run.`,
          fix: "Allow them, or set `isolation` to `available`.",
        });
      if (!hasWarned) logger.log("warn", `Programs run in a process group alone: this system has no ${lacks}. They can use the network.`);
      hasWarned = true;
      return isolation;
    },
  };
}

const invalid = (message: string, fix: string): AgentError => new AgentError("CONFIG_INVALID", { message, fix });
