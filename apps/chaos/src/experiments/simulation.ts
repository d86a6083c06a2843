/* S2 to S6: the whole runtime in one process, from seeds. What is found here is found again by one line. */
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { runCrashPoints, runPlantedBugs, runSchedules } from "@loopwright/simulator";
import type { SeedsShare, ShareReport } from "../simulation/seeds-share.ts";
import type { Experiment, Outcome } from "./experiment.ts";

export interface SeedsOptions {
  /** Seeds; the time may be over first. */
  readonly count: number;
  readonly least: number;
  readonly limitMs: number;
  /** Runs beside others, and lets them go first. */
  readonly isBeside: boolean;
}

/** S2, S5: many nodes, a bad store, a bad channel, crashes anywhere; and then all must come to rest. */
export function simulatedSeeds({ count, least, limitMs, isBeside }: SeedsOptions): Experiment {
  return {
    name: "simulated-seeds",
    isBeside,
    async run(seed, say): Promise<Outcome> {
      const shares = availableParallelism();
      const each = Math.ceil(count / shares);
      const from = seed * 10_000_000;
      let simulated = 0;
      const progress = (done: number): void => {
        simulated += done;
        if (simulated % 5_000 === 0) say(`simulated-seeds: ${simulated} of at most ${count}`);
      };
      const asked = Array.from({ length: shares }, (_, share) =>
        simulateShare({ from: from + share * each, count: each, limitMs, isPolite: isBeside }, progress),
      );
      const reports = await Promise.all(asked);
      const sum = (of: (report: ShareReport) => number): number => reports.reduce((total, report) => total + of(report), 0);
      return {
        failures: reports.flatMap(({ failures }) => failures),
        figures: [
          { name: "seeds simulated", value: sum(({ count: seeds }) => seeds), bound: { least } },
          { name: "of them calm", value: sum(({ calmCount }) => calmCount) },
          { name: "seconds", value: Math.round(Math.max(...reports.map(({ seconds }) => seconds))) },
          ...Object.keys(reports[0]?.figures ?? {}).map((name) => ({
            name: name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
            value: sum(({ figures }) => Object.entries(figures).find(([key]) => key === name)?.[1] ?? 0),
          })),
        ],
      };
    },
  };
}

function simulateShare(share: SeedsShare, progress: (done: number) => void): Promise<ShareReport> {
  const script = fileURLToPath(new URL("../simulation/seeds-process.ts", import.meta.url));
  const child = fork(script, [JSON.stringify(share)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  return new Promise((resolve, reject) => {
    child.on("message", (message: { readonly type: string; readonly report: ShareReport }) => {
      if (message.type === "done") resolve(message.report);
      else progress(500);
    });
    child.once("exit", (code) => reject(new Error(`A simulation ended with ${code}.`)));
  });
}

export interface CrashPointOptions {
  readonly depth: 1 | 2;
  readonly limitMs?: number;
  /** No place may be left out because time is over. Default false. */
  readonly isWhole?: boolean;
}

/** S3: a crash at every place of forty conversations. */
export function crashPoints({ depth, limitMs, isWhole = false }: CrashPointOptions): Experiment {
  return {
    name: `crash-points-${depth}`,
    async run(): Promise<Outcome> {
      const report = await runCrashPoints({ depth, ...limitOf(limitMs) });
      return {
        failures: report.failures.map(({ script, findings, replay }) => `${script}: ${findings[0]?.message ?? ""} (${replay})`),
        figures: [
          { name: "scripts", value: report.scripts },
          { name: "places where something is asked of the world", value: report.points },
          { name: "crashes", value: report.runs, bound: { least: 1 } },
          { name: "crashes of the recovery from one", value: report.secondRuns },
          { name: "rows of the recovery table met", value: Object.keys(report.rows).length },
          { name: "all places were tried (1: yes)", value: report.isComplete ? 1 : 0, ...(isWhole ? { bound: { exactly: 1 } } : {}) },
        ],
      };
    },
  };
}

/** S4: two owners, an abort and an input on one session, in every order. */
export function schedules({ ownerRequests, limitMs }: { readonly ownerRequests: number; readonly limitMs?: number }): Experiment {
  return {
    name: "schedules",
    async run(): Promise<Outcome> {
      const report = await runSchedules({ ownerRequests, ...limitOf(limitMs) });
      return {
        failures: report.failures.map(({ findings, replay }) => `${findings[0]?.message ?? ""} (${replay})`),
        figures: [
          {
            name: `orders of two owners with ${ownerRequests} requests each, an abort and an input`,
            value: report.schedules,
            bound: { least: 1 },
          },
          { name: "there are no others (1: yes)", value: report.isComplete ? 1 : 0 },
        ],
      };
    },
  };
}

/** Ten thousand seeds take so long on a machine that has other things to do. */
const bugMs = 600_000;

/** S6: bugs that were planted on purpose, at the ports and in a copy of the sources of core and host, each of which has to be found. */
export function plantedBugs({ seedsMax }: { readonly seedsMax: number }): Experiment {
  return {
    name: "planted-bugs",
    async run(_, say): Promise<Outcome> {
      const root = fileURLToPath(new URL("../../../..", import.meta.url));
      const { bugs, found, missed } = await runPlantedBugs({
        root,
        seedsMax,
        limitMs: bugMs,
        onBug: ({ name, seed }) => say(`planted-bugs: ${name}: seed ${seed ?? "none"}`),
      });
      return {
        failures: missed.map((name) => `not found: ${name}`),
        figures: [
          { name: "planted bugs", value: bugs.length, bound: { least: 25 } },
          { name: "planted bugs found", value: found, bound: { exactly: bugs.length } },
        ],
      };
    },
  };
}

const limitOf = (limitMs: number | undefined): { readonly limitMs?: number } => (limitMs === undefined ? {} : { limitMs });
