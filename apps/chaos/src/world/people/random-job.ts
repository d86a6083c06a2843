import type { Job, JobCall, ToolName, Turn } from "../job.ts";
import { treeJob } from "./tree-job.ts";

/** Which jobs a storm is made of. */
export interface JobProfile {
  readonly tools: readonly ToolName[];
  /** Up to this many turns with calls before the last one. */
  readonly turnsMax: number;
  readonly wordsMax: number;
  readonly gapMsMax: number;
  readonly toolMsMax: number;
  /** Every job is one for children. */
  readonly hasChildren?: boolean;
}

/** Of all jobs. */
const refusedShare = 0.03;

/** A job, the same for the same random numbers. */
export function randomJob(id: string, random: () => number, jobProfile: JobProfile): Job {
  if (jobProfile.hasChildren) return treeJob(id, random);
  const below = (limit: number): number => Math.floor(random() * limit);
  const call = (): JobCall => ({ tool: jobProfile.tools[below(jobProfile.tools.length)] ?? "read", ms: below(jobProfile.toolMsMax + 1) });
  const turn = (calls: number): Turn => ({
    words: 1 + below(jobProfile.wordsMax),
    gapMs: below(jobProfile.gapMsMax + 1),
    ...(calls > 0 ? { calls: Array.from({ length: calls }, call) } : {}),
  });
  const turns = jobProfile.tools.length === 0 ? [] : Array.from({ length: below(jobProfile.turnsMax + 1) }, () => turn(1 + below(3)));
  return { id, turns: [...turns, turn(0)], ...(random() < refusedShare ? { isRefused: true } : {}) };
}
