import { AgentError } from "@loopwright/core";
import type { WorkflowNudgesOptions } from "@loopwright/nudges";
import type { ConfigValues } from "../config/options.ts";

type NudgeValues = Pick<ConfigValues, "nudges" | "exploreTools" | "editTools" | "finaliseTools">;

/** When a model is asked to continue its work; `undefined`: never. @throws AgentError CONFIG_INVALID for phases beside `nudges: false` */
export function nudgesOf({ nudges, exploreTools, editTools, finaliseTools }: NudgeValues): WorkflowNudgesOptions | undefined {
  const [explore, edit, finalise] = [exploreTools, editTools, finaliseTools].map(namesOf);
  const hasPhases = edit !== undefined || finalise !== undefined;
  if (nudges === false && hasPhases)
    throw new AgentError("CONFIG_INVALID", {
      message: "`workflow` names the tools of its phases, and `nudges` is false, so nothing would use them.",
      fix: "Leave out `nudges`, or the phases.",
    });
  if (nudges !== true && !hasPhases) return undefined;
  if (!hasPhases) return explore ? { exploreTools: explore } : {};
  return { phases: { ...(explore ? { explore } : {}), ...(edit ? { edit } : {}), ...(finalise ? { finalise } : {}) } };
}

/** The names of a text with commas between them; `undefined`: there is none. */
function namesOf(text: string | undefined): readonly string[] | undefined {
  const names = text
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return names && names.length > 0 ? names : undefined;
}
