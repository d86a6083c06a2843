import { resolve } from "node:path";
import { AgentError } from "@loopwright/core";
import { holdsServers } from "../config/mcp-servers.ts";
import { oneLine } from "../terminal/neutralise.ts";

/** What makes pictures: a vendor's interface, or shapes that are drawn here, without a network. */
export const imageMakers = ["openai", "gemini", "drawn"] as const;
export type ImageMaker = (typeof imageMakers)[number];

/** Tools that agents have only where they are asked for. */
export interface OfferedTools {
  /** `craft_tool`: code and texts with versions. */
  readonly artifacts: boolean;
  /** `generate_image`; undefined: no agent has it. */
  readonly images: ImageMaker | undefined;
  /** Absolute path of the list of programs that `cli_execute` may run; undefined: no agent has it. */
  readonly programsFile: string | undefined;
  /** Absolute path of the folder with skills; undefined: agents have none. */
  readonly skillsFolder: string | undefined;
  /** Absolute path of the list of MCP servers, or the servers as JSON; undefined: agents have none. */
  readonly mcp: string | undefined;
}

/** What these values ask for; files are found from `directory`. @throws AgentError CONFIG_INVALID */
export function offeredTools(
  {
    artifacts = false,
    images: typed,
    programs,
    skills,
    mcp,
  }: {
    readonly artifacts?: boolean;
    readonly images?: string;
    readonly programs?: string;
    readonly skills?: string;
    readonly mcp?: string;
  },
  directory: string,
): OfferedTools {
  const images = imageMakers.find((name) => name === typed);
  if (typed !== undefined && images === undefined)
    throw new AgentError("CONFIG_INVALID", {
      message: `Nothing makes pictures that is named \`${oneLine(typed, 40)}\`.`,
      fix: `Pass one of these with \`--images\`: ${imageMakers.join(", ")}.`,
    });
  const place = (path: string | undefined): string | undefined => (path === undefined ? undefined : resolve(directory, path));
  return {
    artifacts,
    images,
    programsFile: place(programs),
    skillsFolder: place(skills),
    mcp: mcp !== undefined && holdsServers(mcp) ? mcp : place(mcp),
  };
}
