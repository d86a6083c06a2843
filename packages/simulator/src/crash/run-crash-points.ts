/*
 * Owns: a crash at every place of every scripted conversation, and at every place of the recovery from it.
 */
import type { RunStatus } from "@loopwright/core";
import { claimsInto, type Finding } from "../check/finding.ts";
import type { Fate } from "../world/simulated-node.ts";
import { checkRow, type RecoveryRow } from "./recovery-rows.ts";
import { type Fuse, runScript, type ScriptRun, type ScriptSetting } from "./run-script.ts";
import { type TurnScript, turnScripts, twiceCrashed } from "./turn-script.ts";

/**
 * What happens at a place: the process dies before or after the request takes effect, the request or its answer is lost, the process stands still,
 * or it is terminated there and hands over.
 */
export type CrashKind = "before" | "after" | "request-lost" | "answer-lost" | "paused" | "handed-over";

export interface CrashPointsOptions {
  /** Names of scripts. Default: all of them. */
  readonly scripts?: readonly string[];
  /** Default: both. */
  readonly settings?: readonly ScriptSetting[];
  /** Default: all. */
  readonly kinds?: readonly CrashKind[];
  /** 2: also a crash at every place of the recovery, for ten of the scripts. Default 1. */
  readonly depth?: 1 | 2;
  /** Takes every n-th place only. Default 1: all. */
  readonly every?: number;
  /** Real milliseconds after which no further run is begun. */
  readonly limitMs?: number;
  readonly onFailure?: (failure: CrashFailure) => void;
}

export interface CrashFailure {
  readonly script: string;
  readonly setting: ScriptSetting;
  readonly fuses: readonly Fuse[];
  readonly findings: readonly Finding[];
  /** One line of code that does it again. */
  readonly replay: string;
}

export interface CrashPointsReport {
  readonly scripts: number;
  /** Places of all calm runs together. */
  readonly points: number;
  readonly runs: number;
  readonly secondRuns: number;
  readonly seconds: number;
  /** How many crashes belonged to which row of the recovery table. */
  readonly rows: { readonly [row in RecoveryRow]?: number };
  readonly failures: readonly CrashFailure[];
  /** False: the time was over first. */
  readonly isComplete: boolean;
}

const fates: { readonly [kind in CrashKind]: Partial<Fate> } = {
  before: { dies: "before" },
  after: { dies: "after" },
  "request-lost": { lost: "request", deadlineMs: 40 },
  "answer-lost": { lost: "answer", deadlineMs: 40 },
  paused: { pausesMs: 20_000 },
  "handed-over": { isTerminated: true },
};
const allSettings: readonly ScriptSetting[] = ["together", "apart"];
const allKinds: readonly CrashKind[] = ["before", "after", "request-lost", "answer-lost", "paused", "handed-over"];
/** Done without waiting: there is no answer that could be lost. */
const answerless: ReadonlySet<string> = new Set(["publish", "model-call", "tool-start", "tool-end"]);
const failuresMax = 50;

interface Tally {
  readonly options: CrashPointsOptions;
  readonly startedAt: number;
  readonly rows: { [row in RecoveryRow]?: number };
  readonly failures: CrashFailure[];
  points: number;
  runs: number;
  secondRuns: number;
  isComplete: boolean;
}

/** Crashes everywhere. @throws RangeError when a script is unknown. */
export async function runCrashPoints(options: CrashPointsOptions = {}): Promise<CrashPointsReport> {
  const scripts = (options.scripts ?? turnScripts.map(({ name }) => name)).map(scriptNamed);
  const startedAt = performance.now();
  const tally: Tally = { options, startedAt, rows: {}, failures: [], points: 0, runs: 0, secondRuns: 0, isComplete: true };
  for (const setting of options.settings ?? allSettings) for (const script of scripts) await crashScript({ script, setting }, tally);
  const { points, runs, secondRuns, rows, failures, isComplete } = tally;
  return {
    scripts: scripts.length,
    points,
    runs,
    secondRuns,
    seconds: (performance.now() - startedAt) / 1_000,
    rows,
    failures,
    isComplete,
  };
}

function scriptNamed(name: string): TurnScript {
  const found = turnScripts.find((script) => script.name === name);
  if (!found) throw new RangeError(`There is no script \`${name}\`.`);
  return found;
}

/** One conversation in one setting. */
interface Played {
  readonly script: TurnScript;
  readonly setting: ScriptSetting;
}

async function crashScript(played: Played, tally: Tally): Promise<void> {
  const calm = await runScript(played.script, { setting: played.setting, fuses: [] });
  judge(played, { run: calm, fuses: [], tally });
  for (const [node, requests] of calm.requests) {
    if (!takesPart(requests)) continue;
    tally.points += requests.length;
    for (const fuse of fusesOf(node, requests, tally.options)) {
      if (isOver(tally)) return;
      const run = await runScript(played.script, { setting: played.setting, fuses: [fuse] });
      tally.runs += 1;
      judge(played, { run, fuses: [fuse], tally });
      const isTwice = tally.options.depth === 2 && fuse.fate.dies !== undefined && twiceCrashed.includes(played.script.name);
      if (isTwice) await crashAgain(played, { fuse, run, tally });
    }
  }
}

/** A process that only looks whether there is something to do has no part in the conversation. */
const takesPart = (requests: readonly string[]): boolean => requests.some((kind) => kind !== "due" && kind !== "offer" && kind !== "head");

function fusesOf(node: string, requests: readonly string[], { kinds = allKinds, every = 1 }: CrashPointsOptions): readonly Fuse[] {
  return requests.flatMap((asked, at) => {
    if (at % every !== 0) return [];
    const possible = kinds.filter((kind) => !answerless.has(asked) || kind === "before" || kind === "after" || kind === "handed-over");
    return possible.map((kind): Fuse => ({ node, place: at + 1, fate: fates[kind] }));
  });
}

/** Another process dies too, at every place of what it does. */
async function crashAgain(
  played: Played,
  { fuse, run, tally }: { readonly fuse: Fuse; readonly run: ScriptRun; readonly tally: Tally },
): Promise<void> {
  for (const [node, requests] of run.requests) {
    if (node === fuse.node || !takesPart(requests)) continue;
    for (const second of fusesOf(node, requests, { ...tally.options, kinds: ["before", "after"] })) {
      if (isOver(tally)) return;
      const fuses = [fuse, second];
      const again = await runScript(played.script, { setting: played.setting, fuses });
      tally.secondRuns += 1;
      judge(played, { run: again, fuses, tally });
    }
  }
}

function isOver(tally: Tally): boolean {
  const isLate = performance.now() - tally.startedAt > (tally.options.limitMs ?? Number.POSITIVE_INFINITY);
  if (isLate || tally.failures.length >= failuresMax) tally.isComplete = false;
  return !tally.isComplete;
}

interface Judged {
  readonly run: ScriptRun;
  readonly fuses: readonly Fuse[];
  readonly tally: Tally;
}

function judge({ script, setting }: Played, { run, fuses, tally }: Judged): void {
  const findings = [...run.findings];
  const claim = claimsInto(findings, "s1");
  if (run.factsAtCrash && findings.length === 0) {
    const row = checkRow(run.factsAtCrash, run.facts, claim);
    tally.rows[row] = (tally.rows[row] ?? 0) + 1;
  }
  const ends: readonly RunStatus[] = run.facts.flatMap((fact) => (fact.type === "run.finished" ? [fact.status] : []));
  if (script.ends) claim(ends.join() === script.ends.join(), "S3", () => `the runs ended as ${ends.join()}, not as ${script.ends?.join()}`);
  if (findings.length === 0) return;
  const failure: CrashFailure = {
    script: script.name,
    setting,
    fuses,
    findings,
    replay: replayOf({ script: script.name, setting, fuses }),
  };
  tally.failures.push(failure);
  tally.options.onFailure?.(failure);
}

/** What the line that a failure prints hands over. */
export interface CrashReplay {
  readonly script: string;
  readonly setting: ScriptSetting;
  readonly fuses: readonly Fuse[];
}

const replayOf = (crash: CrashReplay): string =>
  `import { replayCrash } from "@loopwright/simulator"; console.log(await replayCrash(${JSON.stringify(crash)}))`;

/** What is found when this script is crashed at these places. @throws RangeError when the script is unknown. */
export async function replayCrash({ script, setting, fuses }: CrashReplay): Promise<readonly Finding[]> {
  const run = await runScript(scriptNamed(script), { setting, fuses });
  const findings = [...run.findings];
  if (run.factsAtCrash) checkRow(run.factsAtCrash, run.facts, claimsInto(findings, "s1"));
  return findings;
}
