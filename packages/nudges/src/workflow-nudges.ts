import { AgentError, type DecideContext, type DecideVerdict, type Hooks, refuseUnknownOptions } from "@loopwright/core";

/** Tools by the phase of the work that they belong to. A name may end in `*`. */
export interface WorkflowPhases {
  /** They look: searches, files that are read. They count as the last phase only where no other is declared. */
  readonly explore?: readonly string[];
  /** They change something. */
  readonly edit?: readonly string[];
  /** They hand the work over: a commit, a pull request, a report. */
  readonly finalise?: readonly string[];
}

export interface WorkflowNudgesOptions {
  /**
   * Work has phases: a run is done when a tool of its last phase has run, `finalise` or, without one, `edit`; a model that stops before that is asked to continue. Default: no
   * phases. Then a run that only looked is an answer to a question and is final, and one that changed something is asked once whether it is done.
   */
  readonly phases?: WorkflowPhases;
  /** Tools that only look, for a run without phases. Default: those of Loopwright's packages that search, read, calculate and take notes. */
  readonly exploreTools?: readonly string[];
  /** Nudges in a row, from 1 to 5; a call of a tool begins a new row. Default 2 with phases, 1 without. */
  readonly nudgesMax?: number;
  /** What the model reads. */
  readonly notice?: string;
}

export const nudgeLimits: { readonly nudgesMax: number; readonly toolsKept: number } = {
  nudgesMax: 5,
  /** Names of tools that a run remembers. */
  toolsKept: 200,
};

const knownOptions: { readonly [Name in keyof WorkflowNudgesOptions]-?: true } = {
  phases: true,
  exploreTools: true,
  nudgesMax: true,
  notice: true,
};

const lookingTools = [
  "web_search",
  "web_fetch",
  "file_read",
  "file_list",
  "memory_search",
  "memory_get",
  "memory_note",
  "store_memory",
  "retrieve_memory",
  "read_skill",
  "describe_tables",
  "query_tables",
  "json_query",
  "csv_to_json",
  "calculate",
  "current_time",
];

const noticeDefault =
  "You stopped before the work was finished. Continue with the next step. If nothing is left to do, give your whole answer again.";

/** Hooks for an agent: `hooks: [workflowNudges()]`. An answer without any call of a tool in its run is never nudged. @throws AgentError CONFIG_INVALID */
export function workflowNudges(options: WorkflowNudgesOptions = {}): Hooks {
  refuseUnknownOptions(options, knownOptions, "`workflowNudges`");
  const { phases, exploreTools = lookingTools, notice = noticeDefault } = options;
  const { nudgesMax = phases ? 2 : 1 } = options;
  if (!(Number.isInteger(nudgesMax) && nudgesMax >= 1 && nudgesMax <= nudgeLimits.nudgesMax))
    throw new AgentError("CONFIG_INVALID", {
      message: `\`nudgesMax\` of \`workflowNudges\` is ${String(nudgesMax)}.`,
      fix: `Pass a whole number from 1 to ${nudgeLimits.nudgesMax}.`,
    });
  const isDone = phases ? doneByPhases(phases) : onlyLooked(exploreTools);
  return {
    name: "workflow-nudges",
    decide({ reason, calls, message, state }: DecideContext): DecideVerdict | undefined {
      const { used, nudges } = kept(state);
      if (reason === "calls") {
        const names = [...new Set([...used, ...calls.map(({ name }) => name)])].slice(-nudgeLimits.toolsKept);
        return { state: { used: names, nudges: 0 } };
      }
      if (reason !== "no_calls" || message.stopReason !== "stop" || used.length === 0 || nudges >= nudgesMax || isDone(used))
        return undefined;
      return { action: "nudge", notice, state: { used: [...used], nudges: nudges + 1 } };
    },
  };
}

interface Kept {
  readonly used: readonly string[];
  readonly nudges: number;
}

function kept({ used, nudges }: DecideContext["state"]): Kept {
  return { used: Array.isArray(used) ? used.map(String) : [], nudges: typeof nudges === "number" ? nudges : 0 };
}

/** A question was answered: no tool has run that does more than look. */
const onlyLooked = (exploreTools: readonly string[]) => (used: readonly string[]) => used.every((name) => isNamed(name, exploreTools));

/** The last phase that is declared was reached. */
function doneByPhases({ explore = [], edit = [], finalise = [] }: WorkflowPhases): (used: readonly string[]) => boolean {
  const last = [finalise, edit, explore].find((tools) => tools.length > 0);
  if (!last)
    throw new AgentError("CONFIG_INVALID", {
      message: "`phases` of `workflowNudges` names no tool.",
      fix: "Name tools, or leave out `phases`.",
    });
  return (used) => used.some((name) => isNamed(name, last));
}

const isNamed = (name: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
