/* How often tools were started, as the witness saw it: for logs that do not remember. */
import type { Testimony } from "../world/testimony.ts";

/** I5: no call of these tools, which run once, was started twice. */
export function checkStarts(testimonies: readonly Testimony[], onceTools: readonly string[]): readonly string[] {
  const starts = testimonies.filter(({ phase, tool }) => phase === "start" && onceTools.includes(tool));
  return [...Map.groupBy(starts, ({ session, callKey }) => `${callKey} of ${session}`)]
    .filter(([, seen]) => seen.length > 1)
    .map(
      ([call, seen]) =>
        `I5: the call ${call} runs once and was started ${seen.length} times, by ${seen.map(({ node }) => node).join(", ")}`,
    );
}
