/* Processes that ended without a signal of the rig. */
import type { Ending } from "../world/ending.ts";

const lastWordsMax = 600;

/** I14: a node ends only on request: by a signal of the rig, or in order. Anything else is a failure of its own. */
export function checkEnds(endings: readonly Ending[], wanted: readonly Ending["end"][]): readonly string[] {
  return endings
    .filter(({ end }) => !wanted.includes(end))
    .map(({ name, end, complaints }) => `I14: ${name} ended by itself with ${end}; its last words: ${lastWords(complaints)}`);
}

const lastWords = (complaints: string): string => (complaints === "" ? "none" : complaints.slice(-lastWordsMax).replaceAll("\n", " | "));
