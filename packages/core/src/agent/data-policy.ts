import type { Invalid } from "./agent-limits.ts";

/** Tools by name: all, none, these alone, or all but these. */
export type StoredTools = boolean | { readonly only: readonly string[] } | { readonly without: readonly string[] };

/**
 * Which parts of an agent's work are stored. The other parts are still in the live stream and in the context of the run; later runs, and other processes,
 * read a placeholder from the store.
 */
export interface DataPolicy {
  /** The texts and the thinking of answers. Default true. */
  readonly text?: boolean;
  /** Tools whose calls are stored with their arguments. Default: all. */
  readonly calls?: StoredTools;
  /** Tools whose results are stored. Default: all. */
  readonly results?: StoredTools;
}

const names = new Set(["text", "calls", "results"]);

/** @throws AgentError CONFIG_INVALID */
export function checkDataPolicy(data: DataPolicy, invalid: Invalid): void {
  const unknown = Object.keys(data).find((name) => !names.has(name));
  if (unknown !== undefined) throw invalid(`\`data.${unknown}\` is no option.`, "Its options are `text`, `calls` and `results`.");
  if (data.text !== undefined && typeof data.text !== "boolean") throw invalid("`data.text` is neither true nor false.", "Pass a boolean.");
  for (const [name, tools] of [
    ["calls", data.calls],
    ["results", data.results],
  ] as const) {
    if (tools === undefined || typeof tools === "boolean") continue;
    const lists = tools === null || typeof tools !== "object" ? [] : Object.entries(tools);
    const [list] = lists;
    if (lists.length !== 1 || !list || !["only", "without"].includes(list[0]) || !Array.isArray(list[1]))
      throw invalid(`\`data.${name}\` is not usable.`, "Pass true, false, `{ only: [...] }` or `{ without: [...] }` with names of tools.");
  }
}

/** True if `tools` include the tool. A tool without a known name is included only if all tools are. */
export function storesTool(tools: StoredTools = true, tool: string | undefined): boolean {
  if (typeof tools !== "boolean" && tool === undefined) return false;
  if (typeof tools === "boolean") return tools;
  return "only" in tools ? tools.only.includes(tool as string) : !tools.without.includes(tool as string);
}
