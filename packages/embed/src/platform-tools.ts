import { type Access, defineTool, type Tool } from "@loopwright/core";
import type { Modules } from "./modules.ts";

/** What the model may know of the caller's team. */
export interface TeamInfo {
  readonly name: string;
  readonly members?: readonly string[];
  /** Anything else that its users may see. */
  readonly facts?: { readonly [name: string]: string };
}

export interface PlatformToolsOptions {
  /** The team of a caller, read at each call under the caller's own access; `undefined`: none. */
  readonly team: (access: Access) => TeamInfo | undefined | Promise<TeamInfo | undefined>;
  readonly modules?: Modules;
}

const parameters = { type: "object", properties: {}, additionalProperties: false } as const;

/** The tools of every product: `_platform_inspect_team` and `_platform_list_modules`. Names with a dot reach no vendor, so a line takes its place. */
export function platformTools({ team, modules = {} }: PlatformToolsOptions): readonly Tool[] {
  return [
    defineTool({
      name: "_platform_inspect_team",
      label: "Look at the team",
      description: "Tells the user's name, and the name, members and facts of the user's team.",
      parameters,
      replay: "pure",
      async execute(_: unknown, { access }) {
        return { user: access.user, team: (await team(access)) ?? null };
      },
    }),
    defineTool({
      name: "_platform_list_modules",
      label: "List the modules",
      description: "Lists the parts of the product: their ids, titles and tools.",
      parameters,
      replay: "pure",
      execute: () =>
        Object.entries(modules).map(([id, { title = id, tools = [] }]) => ({ id, title, tools: tools.map(({ name }) => name) })),
    }),
  ];
}
