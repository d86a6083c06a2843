import { AgentError } from "../errors.ts";
import type { ToolHome, ToolPolicy } from "../loop/facts/tool-policy.ts";
import type { ToolSpec } from "../ports/model-provider.ts";
import { isToolName, jsonSchemaOf } from "./define-tool.ts";
import type { Tool } from "./tool.ts";
import { toolLimits } from "./tool-limits.ts";

/** A tool of any arguments and resources: the type that every defined tool can be passed as. */
export type AnyTool = Tool<unknown, unknown>;

/** The tools of an agent, looked up by name. Never changes. */
export interface ToolRegistry {
  /** In the order in which they were given. */
  readonly tools: readonly AnyTool[];
  get(name: string): AnyTool | undefined;
  /** The tools as a model gets them, in the same order; made once, so that providers may cache by identity. With `names`, only these. */
  specs(names?: ReadonlySet<string>): readonly ToolSpec[];
  /** The policies that the loop needs, by name: the `tools` of `run.started`. */
  policies(): { readonly [name: string]: ToolPolicy };
}

/** @throws AgentError CONFIG_INVALID when a name is unusable or given twice, or a schema has no JSON Schema form. */
export function createToolRegistry(tools: readonly AnyTool[]): ToolRegistry {
  const byName = new Map<string, AnyTool>();
  for (const [index, tool] of tools.entries()) {
    checkName(tool, index);
    const twin = byName.get(tool.name);
    if (twin) throw twinError(tools, twin, index);
    byName.set(tool.name, tool);
  }
  const list: readonly AnyTool[] = [...byName.values()];
  const allSpecs = list.map(specOf);
  const policies = Object.fromEntries(list.map((tool) => [tool.name, policyOf(tool)]));
  return {
    tools: list,
    get: (name) => byName.get(name),
    specs: (names) => (names ? allSpecs.filter((spec) => names.has(spec.name)) : allSpecs),
    policies: () => policies,
  };
}

/** The tool's policy, defaults filled in. */
export function policyOf(tool: AnyTool): ToolPolicy {
  const home = homeOf(tool);
  return {
    home,
    replay: tool.replay ?? "once",
    lookup: tool.lookup !== undefined,
    sequential: tool.sequential ?? false,
    timeoutMs: tool.timeoutMs ?? (home === "client" ? toolLimits.clientTimeoutMs : toolLimits.timeoutMs),
    counts: tool.counts ?? true,
  };
}

function homeOf(tool: AnyTool): ToolHome {
  return tool.execute === undefined || tool.visibility === "client" ? "client" : "server";
}

const specCache = new WeakMap<object, ToolSpec>();

/** The tool as a model gets it; the same object on every call. @throws AgentError CONFIG_INVALID when its schema has no JSON Schema form. */
export function specOf(tool: AnyTool): ToolSpec {
  const known = specCache.get(tool);
  if (known) return known;
  const spec: ToolSpec = { name: tool.name, description: tool.description, parameters: jsonSchemaOf(tool) };
  specCache.set(tool, spec);
  return spec;
}

function checkName(tool: AnyTool, index: number): void {
  const name: unknown = tool?.name;
  if (isToolName(name)) return;
  const shown = typeof name === "string" ? `\`${name.slice(0, 80)}\`` : `a ${typeof name}`;
  throw new AgentError("CONFIG_INVALID", {
    message: `Tool ${index + 1} has the name ${shown}, which is not usable.`,
    fix: "Use 1 to 64 of a-z, A-Z, 0-9, _ and -.",
  });
}

function twinError(tools: readonly AnyTool[], twin: AnyTool, index: number): AgentError {
  const second = tools[index];
  const first = tools.indexOf(twin);
  const shown = (tool: AnyTool | undefined): string => `"${(tool?.description ?? "").slice(0, 60)}"`;
  return new AgentError("CONFIG_INVALID", {
    message: `Two tools are called \`${twin.name}\`: tool ${first + 1} (${shown(twin)}) and tool ${index + 1} (${shown(second)}).`,
    fix: "Rename or leave out one of them.",
    details: { tool: twin.name, first, second: index },
  });
}
