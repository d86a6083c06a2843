import { AgentError } from "@loopwright/core";

/** Parts of the product that an input may name as `activeModule`, by id, each with the text that the model reads there. */
export interface Modules {
  readonly [id: string]: { readonly prompt: string };
}

/** Passes for the id of a module. @throws AgentError MODULE_UNKNOWN */
export function checkModule(id: string, modules: Modules): void {
  if (!Object.hasOwn(modules, id)) throw new AgentError("MODULE_UNKNOWN", { message: `There is no module \`${id.slice(0, 64)}\` here.` });
}
