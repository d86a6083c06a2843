import { AgentError, type Json, type Tool } from "@loopwright/core";

/** A part of the product: what it brings to an agent while an input names it. */
export interface Module {
  /** The text that the model reads there. */
  readonly prompt: string;
  /** For people and for the tool that lists modules. Default: the id. */
  readonly title?: string;
  /** Tools that the model has there alone. Their names begin neither with `_platform` nor like those of another module's tool. */
  readonly tools?: readonly Tool[];
  /** For the page, by `GET /api/modules`; never for the model. */
  readonly hints?: Json;
}

/** Parts of the product that an input may name as `activeModule`, by id. */
export interface Modules {
  readonly [id: string]: Module;
}

/** Passes for the id of a module. @throws AgentError MODULE_UNKNOWN */
export function checkModule(id: string, modules: Modules): void {
  if (!Object.hasOwn(modules, id)) throw new AgentError("MODULE_UNKNOWN", { message: `There is no module \`${id.slice(0, 64)}\` here.` });
}

/** What modules must not call their tools: names of the platform's own. */
const reserved = "_platform";

/** The tools of all modules. @throws AgentError CONFIG_INVALID for a name of the platform, or one that two modules have */
export function toolsOf(modules: Modules): readonly Tool[] {
  const owners = new Map<string, string>();
  return Object.entries(modules).flatMap(([id, { tools = [] }]) => {
    for (const { name } of tools) {
      const other = owners.get(name);
      if (name.startsWith(reserved)) throw invalid(id, name, `names that begin with \`${reserved}\` belong to the platform`);
      if (other !== undefined) throw invalid(id, name, `the module \`${other}\` has it as well`);
      owners.set(name, id);
    }
    return tools;
  });
}

const invalid = (module: string, tool: string, why: string): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `The tool \`${tool}\` of the module \`${module}\` cannot be used: ${why}.`,
    fix: "Choose another name.",
    details: { module, tool },
  });
