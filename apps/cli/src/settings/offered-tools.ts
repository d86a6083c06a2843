import { AgentError } from "@loopwright/core";
import { oneLine } from "../terminal/neutralise.ts";
import type { Environment } from "./environment.ts";

/** What makes pictures: a vendor's interface, or shapes that are drawn here, without a network. */
export const imageMakers = ["openai", "gemini", "drawn"] as const;
export type ImageMaker = (typeof imageMakers)[number];

/** Tools that agents have only where they are asked for. */
export interface OfferedTools {
  /** `craft_tool`: code and texts with versions. */
  readonly artifacts: boolean;
  /** `generate_image`; undefined: no agent has it. */
  readonly images: ImageMaker | undefined;
}

/** By flags, then by LOOPWRIGHT_ARTIFACTS (`1`) and LOOPWRIGHT_IMAGES. @throws AgentError CONFIG_INVALID */
export function offeredTools(flags: { readonly artifacts?: boolean; readonly images?: string }, environment: Environment): OfferedTools {
  const typed = flags.images ?? environment["LOOPWRIGHT_IMAGES"];
  const images = imageMakers.find((name) => name === typed);
  if (typed !== undefined && images === undefined)
    throw new AgentError("CONFIG_INVALID", {
      message: `Nothing makes pictures that is named \`${oneLine(typed, 40)}\`.`,
      fix: `Pass one of these with \`--images\`: ${imageMakers.join(", ")}.`,
    });
  const artifacts = environment["LOOPWRIGHT_ARTIFACTS"];
  if (artifacts !== undefined && artifacts !== "0" && artifacts !== "1")
    throw new AgentError("CONFIG_INVALID", {
      message: "LOOPWRIGHT_ARTIFACTS is neither `0` nor `1`.",
      fix: "Set `1` to give agents the tool that makes artifacts, or leave it out.",
    });
  return { artifacts: flags.artifacts ?? artifacts === "1", images };
}
