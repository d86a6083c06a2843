import { AgentError, type NeedsResources, type Tool } from "@loopwright/core";

/** A tool with what decides when a model is shown it and when it should choose it. */
export interface RegisteredTool<Resources = unknown> {
  readonly tool: Tool & NeedsResources<Resources>;
  /** For the model: when to choose this tool. Part of the system prompt while the tool is shown. */
  readonly selectionRule?: string;
  /** Modes of an input, any of which brings the tool. Default: it does not depend on modes. */
  readonly modes?: readonly string[];
  /** Values of the label `surface` where the tool is shown. Default: everywhere. */
  readonly surfaces?: readonly string[];
}

/** A tool by itself, or with its rules. */
export type ToolEntry<Resources = unknown> = (Tool & NeedsResources<Resources>) | RegisteredTool<Resources>;

/** Tools by where they come from, for example `platform`, `modules`, `companions`. */
export interface ToolSources<Resources = unknown> {
  readonly [source: string]: readonly ToolEntry<Resources>[];
}

/** Beginnings of names that one source alone may use. */
export interface NameRules {
  readonly [beginning: string]: string;
}

const isRegistered = (entry: ToolEntry): entry is RegisteredTool => "tool" in entry;

/**
 * All tools of the sources by name, in their order. @throws AgentError CONFIG_INVALID when two sources have a tool of the same name, or a source uses
 * the beginning of another one
 */
export function unionOf(sources: ToolSources, rules: NameRules): ReadonlyMap<string, RegisteredTool> {
  const found = new Map<string, RegisteredTool & { readonly source: string }>();
  for (const [source, entries] of Object.entries(sources))
    for (const entry of entries) {
      const registered = isRegistered(entry) ? entry : { tool: entry };
      const { name } = registered.tool;
      const twin = found.get(name);
      if (twin) throw invalid(name, `the sources \`${twin.source}\` and \`${source}\` both have it`, "Rename or leave out one of them.");
      for (const [beginning, owner] of Object.entries(rules))
        if (name.startsWith(beginning) && owner !== source)
          throw invalid(
            name,
            `names with \`${beginning}\` belong to the source \`${owner}\`, not to \`${source}\``,
            "Choose another name.",
          );
      found.set(name, { ...registered, source });
    }
  return found;
}

const invalid = (tool: string, what: string, fix: string): AgentError =>
  new AgentError("CONFIG_INVALID", { message: `Tool \`${tool}\`: ${what}.`, fix, details: { tool } });
