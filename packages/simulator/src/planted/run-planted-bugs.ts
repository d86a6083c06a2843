/*
 * Owns: the trial of the simulator itself: every planted bug has to be found. Does not own: the bugs.
 */
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { threadId } from "node:worker_threads";
import type { CrashPointsOptions } from "../crash/run-crash-points.ts";
import { runSeedsWith } from "../run/run-seeds.ts";
import { runSchedulesWith } from "../schedules/run-schedules.ts";
import type { Sabotage } from "../world/simulated-world.ts";
import { hostFlaws } from "./host-flaws.ts";
import { type PortFlaw, portFlaws } from "./port-flaws.ts";
import { type SourceFlaw, sourceFlaws } from "./source-flaws.ts";
import { treeFlaws } from "./tree-flaws.ts";

export interface PlantedBugsOptions {
  /** The repository of Loopwright: flaws in core and host are written into a copy of their sources. Default: only flaws of ports are tried. */
  readonly root?: string;
  /** Seeds that are tried for each, from 1 on. Default 10,000. */
  readonly seedsMax?: number;
  /** Seeds that are tried before all else: those that found the bug when it was last looked for save the search. Default: none. */
  readonly firstSeeds?: readonly number[];
  /** Names, or parts of them. Default: all. */
  readonly only?: readonly string[];
  /** Real milliseconds for each. Default 120,000. */
  readonly limitMs?: number;
  readonly onBug?: (bug: PlantedBug) => void;
}

export interface PlantedBug {
  readonly name: string;
  readonly kind: "port" | "source";
  /** The first seed that found it; absent: no seed did. */
  readonly seed?: number;
  /** The first of all schedules of two owners that found it; asked for what no seed finds, and where a store has the flaw. */
  readonly schedule?: number;
  /** The outage that found it: which of all, and how. Asked first, since no seed promises that an outage costs nothing. */
  readonly outage?: string;
  /** The crash in a scripted conversation that found it, as code that does it again. */
  readonly crash?: string;
  /** What was found. */
  readonly finding?: string;
  /** Why it could not be planted. */
  readonly problem?: string;
  readonly seconds: number;
}

export interface PlantedBugsReport {
  readonly bugs: readonly PlantedBug[];
  readonly found: number;
  readonly missed: readonly string[];
}

type Trial = Pick<PlantedBug, "seed" | "schedule" | "outage" | "crash" | "finding" | "problem">;

/** Plants one bug after the other and looks for it. */
export async function runPlantedBugs(options: PlantedBugsOptions = {}): Promise<PlantedBugsReport> {
  const { root, only } = options;
  const isWanted = ({ name }: { readonly name: string }): boolean => only === undefined || only.some((part) => name.includes(part));
  const bugs: PlantedBug[] = [];
  const note = async (name: string, kind: PlantedBug["kind"], trial: () => Promise<Trial>): Promise<void> => {
    const startedAt = performance.now();
    const bug: PlantedBug = { name, kind, ...(await trial()), seconds: (performance.now() - startedAt) / 1_000 };
    bugs.push(bug);
    options.onBug?.(bug);
  };
  for (const flaw of portFlaws.filter(isWanted)) await note(flaw.name, "port", () => tryPort(flaw, options));
  if (root !== undefined)
    for (const flaw of [...sourceFlaws, ...hostFlaws, ...treeFlaws].filter(isWanted))
      await note(flaw.name, "source", () => trySource(flaw, { ...options, root }));
  const missed = bugs
    .filter(({ seed, schedule, outage, crash }) => (seed ?? schedule ?? outage ?? crash) === undefined)
    .map(({ name }) => name);
  return { bugs, found: bugs.length - missed.length, missed };
}

const defaults = { seedsMax: 10_000, limitMs: 120_000 };

async function tryPort(
  { sabotage }: PortFlaw,
  { seedsMax = defaults.seedsMax, limitMs = defaults.limitMs, firstSeeds = [] }: PlantedBugsOptions,
): Promise<Trial> {
  const endMs = performance.now() + limitMs;
  const seeds = function* (): Generator<number> {
    yield* firstSeeds;
    for (let seed = 1; seed <= seedsMax; seed++) yield seed;
  };
  // A flaw may count what it saw: every seed begins with a fresh one.
  for (const seed of seeds()) {
    if (performance.now() >= endMs) break;
    const { failures } = await runSeedsWith({ from: seed, count: 1 }, sabotage());
    const [failure] = failures;
    if (failure) return { seed, finding: written(failure.findings[0]) };
  }
  return tryRaces(sabotage());
}

/** Two owners meet far more often in a race than by chance. */
async function tryRaces({ log }: Sabotage): Promise<Trial> {
  if (!log) return {};
  const { schedules, failures } = await runSchedulesWith({ failuresMax: 1 }, log);
  const [failure] = failures;
  return failure ? { schedule: schedules, finding: written(failure.findings[0]) } : {};
}

const written = (finding: { readonly invariant: string; readonly message: string } | undefined): string =>
  `${finding?.invariant}: ${finding?.message}`;

/** Runs seeds on a copy of the sources in which one place was changed. */
async function trySource(flaw: SourceFlaw, options: PlantedBugsOptions & { readonly root: string }): Promise<Trial> {
  const { root, seedsMax = defaults.seedsMax, limitMs = defaults.limitMs, firstSeeds = [] } = options;
  const search: Search = { seedsMax, limitMs, firstSeeds };
  const folder = await makeFolder();
  try {
    const problem = await plant(flaw, { root, folder });
    if (problem !== undefined) return { problem };
    await writeFile(join(folder, "run.ts"), (flaw.isOfTree ? treeRunner : runner)(flaw, search));
    return await runCopy(folder, limitMs);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * A new folder for a copy. One bug after the other has the same path, so that with `NODE_COMPILE_CACHE` only the first compiles what they share; where
 * another one is at work it has a path of its own.
 */
async function makeFolder(): Promise<string> {
  const folder = join(tmpdir(), `loopwright-planted-${process.pid}-${threadId}`);
  const isMade = await mkdir(folder, { mode: 0o700 }).then(
    () => true,
    () => false,
  );
  return isMade ? folder : mkdtemp(`${folder}-`);
}

async function plant(
  { in: home = "core", file, good, bad }: SourceFlaw,
  { root, folder }: { readonly root: string; readonly folder: string },
): Promise<string | undefined> {
  const isSource = (path: string): boolean => !/\/(?:test|dist|node_modules)$|\.test\.ts$/.test(path);
  for (const name of ["core", "host", "replay", "simulator"])
    await cp(join(root, "packages", name), join(folder, name), { recursive: true, filter: isSource });
  for (const [from, to] of [
    ["simulator", "core"],
    ["simulator", "host"],
    ["simulator", "replay"],
    ["host", "core"],
    ["replay", "core"],
  ] as const) {
    await mkdir(join(folder, from, "node_modules/@loopwright"), { recursive: true });
    await symlink(join(folder, to), join(folder, from, "node_modules/@loopwright", to), "dir");
  }
  const path = join(folder, home, "src", file);
  const text = await readFile(path, "utf8");
  const times = text.split(good).length - 1;
  if (times !== 1) return `the code it changes stands ${times} times in ${file}`;
  await writeFile(
    path,
    text.replace(good, () => bad),
  );
  return undefined;
}

/** Hand-overs at every place, or crashes at every fifth. */
const crashesOf = (isOfHost: boolean): Pick<CrashPointsOptions, "kinds" | "every"> =>
  isOfHost ? { kinds: ["handed-over"] } : { kinds: ["before", "after"], every: 5 };

type Search = Required<Pick<PlantedBugsOptions, "seedsMax" | "limitMs" | "firstSeeds">>;

/** Code that tries some seeds, and ends with the first that finds something. */
const tryFirst = ({ firstSeeds, limitMs }: Search, more = ""): string => `
for (const from of ${JSON.stringify(firstSeeds)}) {
  const { failures: [failure] } = await runSeeds({ ${more} from, count: 1, limitMs: ${limitMs}, failuresMax: 1 });
  if (failure) said({ seed: failure.seed, finding: failure.findings[0] });
}`;

const runner = ({ isOfHost = false, script }: SourceFlaw, search: Search): string => `
import { runCrashPoints, runOutages, runSeeds } from "./simulator/src/index.ts";
const said = (report) => {
  process.stdout.write(JSON.stringify(report));
  process.exit(0);
};${tryFirst(search)}
const { failures: [outage] } = ${isOfHost} ? { failures: [] } : await runOutages();
if (outage) said({ outage: JSON.stringify(outage.outage), finding: outage.findings[0] });
const script = ${JSON.stringify(script ?? null)};
const crashes = async () => {
  const crash = script && (await runCrashPoints({ scripts: [script], ...${JSON.stringify(crashesOf(isOfHost))} })).failures[0];
  if (crash) said({ crash: crash.replay, finding: crash.findings[0] });
};
if (${!isOfHost}) await crashes();
const { failures } = await runSeeds({ from: 1, count: ${search.seedsMax}, limitMs: ${search.limitMs}, failuresMax: 1 });
const [failure] = failures;
if (failure) said({ seed: failure.seed, finding: failure.findings[0] });
if (${isOfHost}) await crashes();
said({});
`;

const treeRunner = (_: SourceFlaw, search: Search): string => `
import { runSeeds } from "./simulator/src/index.ts";
import { treeAgent, treeModel } from "./simulator/src/people/tree-agent.ts";
const said = (report) => {
  process.stdout.write(JSON.stringify(report));
  process.exit(0);
};
const tree = { agent: treeAgent(), model: treeModel };${tryFirst(search, "...tree,")}
const { failures: [failure] } = await runSeeds({ ...tree, from: 1, count: ${search.seedsMax}, limitMs: ${search.limitMs}, failuresMax: 1 });
said(failure ? { seed: failure.seed, finding: failure.findings[0] } : {});
`;

function runCopy(folder: string, limitMs: number): Promise<Trial> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--conditions=@loopwright/source", "--no-warnings", "run.ts"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: limitMs * 2,
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (bytes: Buffer) => {
      out += bytes.toString();
    });
    child.stderr.on("data", (bytes: Buffer) => {
      err = (err + bytes.toString()).slice(-1_000);
    });
    child.on("close", (code) => {
      if (code !== 0) return resolve({ problem: `the copy ended with ${String(code)}: ${err}` });
      const { finding, ...where } = JSON.parse(out) as Pick<PlantedBug, "seed" | "outage" | "crash"> & {
        readonly finding?: { readonly invariant: string; readonly message: string };
      };
      resolve(finding ? { ...where, finding: written(finding) } : {});
    });
  });
}
