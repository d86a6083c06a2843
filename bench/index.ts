/* `npm run bench -- [--only <workload>]... [--rounds <n>] [--profile] [--write]` */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { contextScenes, contextStart } from "./context/context-scenes.ts";
import type { ContextFigures } from "./context/measure-context.ts";
import { contextRows, measureContext } from "./context/run-context.ts";
import { type DurableResults, durableRows } from "./durable/durable-rows.ts";
import { durableScenes } from "./durable/durable-scenes.ts";
import type { DurableFigures } from "./durable/measure-durable.ts";
import { measureDurable } from "./durable/run-durable.ts";
import { httpRows } from "./http/http-rows.ts";
import { httpScenes } from "./http/http-scenes.ts";
import { type HttpResults, measureHttp, profileHttp } from "./http/run-http.ts";
import { latencyRows, latencyStart } from "./latency/run-latency.ts";
import { listScenes, listsStart } from "./lists/list-scenes.ts";
import { listRows } from "./lists/run-lists.ts";
import { type BenchOptions, benchOptions, durableStart, httpStart, pageStart, protocolsStart } from "./options.ts";
import { httpSizeRows, httpSizesId, sizeRow, startId, startRow } from "./other-rows.ts";
import {
  contextSection,
  durableSection,
  httpSection,
  latencySection,
  listsSection,
  type Machine,
  type Measured,
  type Profiled,
  pageSection,
  performancePage,
  processSection,
  profileText,
  protocolsSection,
  youngSection,
} from "./performance-page.ts";
import { httpColumns, pageColumns, printRow, printTable, processColumns } from "./print-table.ts";
import { mergeProfiles, type ProfileSummary } from "./profile-summary.ts";
import { measureProtocols, profileProtocol, protocolRows } from "./protocols/run-protocols.ts";
import { isMissedRow, type Row } from "./row.ts";
import { createRig, type Rig, type SceneResults } from "./run-rounds.ts";
import { sceneRows } from "./scene-rows.ts";
import { scenes } from "./scenes.ts";
import { measureStartUp } from "./start-up.ts";
import { youngRows } from "./young-rows.ts";
import { youngRoundsFactor, youngScenes, youngStart } from "./young-scenes.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = join(root, "docs/performance.md");

const isWanted = ({ only }: BenchOptions, id: string): boolean => only.length === 0 || only.some((start) => id.startsWith(start));

function machineOf({ rounds }: BenchOptions): Machine {
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: git("rev-parse", "--short", "HEAD"),
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    rounds,
    load: loadavg()[0] ?? 0,
  };
}

async function measureScenes(rig: Rig, options: BenchOptions): Promise<Map<string, SceneResults>> {
  const results = new Map<string, SceneResults>();
  for (const scene of scenes.filter(({ id }) => isWanted(options, id))) {
    results.set(scene.id, await rig.measure(scene, options.rounds));
    for (const row of sceneRows(new Map([[scene.id, results.get(scene.id) as SceneResults]]))) console.log(printRow(row));
  }
  return results;
}

async function profiles(rig: Rig, options: BenchOptions, rows: readonly Row[]): Promise<readonly Profiled[]> {
  const made: Profiled[] = [];
  for (const scene of scenes.filter(({ id }) => isWanted(options, id))) {
    const row = rows.find(({ id }) => id === scene.id);
    if (!options.profile && !(row && isMissedRow(row))) continue;
    made.push({ title: `Loopwright: ${scene.title}`, profile: await rig.profile(scene, "loopwright") });
  }
  return made;
}

/** What a process pays that talks to a model. */
async function measureProcess(rig: Rig, options: BenchOptions): Promise<Measured> {
  const results = await measureScenes(rig, options);
  const rows = [...sceneRows(results)];
  if (isWanted(options, "size")) rows.push(sizeRow());
  return { machine: machineOf(options), rows, profiles: await profiles(rig, options, rows), results: Object.fromEntries(results) };
}

/** What a process pays that has only just begun to talk to a model. */
async function measureYoung(rig: Rig, options: BenchOptions): Promise<Measured> {
  const rounds = options.rounds * youngRoundsFactor;
  const rows: Row[] = [];
  const made: Profiled[] = [];
  const results: Record<string, SceneResults> = {};
  for (const scene of youngScenes.filter(({ id }) => isWanted(options, id))) {
    const measured = await rig.measure(scene, rounds);
    results[scene.id] = measured;
    const own = youngRows(scene, measured);
    rows.push(...own);
    for (const row of own) console.log(printRow(row));
    if (!options.profile && !own.some(isMissedRow)) continue;
    const profiles: ProfileSummary[] = [];
    for (let round = 0; round < options.rounds; round++) profiles.push(await rig.profile(scene, "loopwright"));
    made.push({ title: `Loopwright: ${scene.title}`, profile: mergeProfiles(profiles) });
  }
  if (isWanted(options, startId)) rows.push(startRow(await measureStartUp(options.rounds)));
  return { machine: { ...machineOf(options), rounds }, rows, profiles: made, results };
}

/** What a server pays. */
async function measureServer({ serverUrl }: Rig, options: BenchOptions): Promise<Measured> {
  const rows: Row[] = [];
  const made: Profiled[] = [];
  const results: Record<string, HttpResults> = {};
  for (const scene of httpScenes.filter(({ id }) => isWanted(options, id))) {
    const measured = await measureHttp(scene, options.rounds, serverUrl);
    results[scene.id] = measured;
    const own = httpRows(scene, measured);
    rows.push(...own);
    for (const row of own) console.log(printRow(row));
    if (!options.profile && !own.some(isMissedRow)) continue;
    const profile = await profileHttp(scene, serverUrl);
    if (profile) made.push({ title: `Loopwright: ${scene.title}`, profile });
  }
  if (isWanted(options, httpSizesId)) rows.push(...httpSizeRows());
  return { machine: machineOf(options), rows, profiles: made, results };
}

/** What a page pays, in a browser: measured only when it is asked for, since not every machine has one. */
async function measureBrowser(options: BenchOptions): Promise<Measured> {
  const { measurePage } = await import("./page/measure-page.ts");
  const { pageRows } = await import("./page/page-rows.ts");
  const results = await measurePage(options.rounds);
  return { machine: machineOf(options), rows: pageRows(results), profiles: [], results: { page: results } };
}

/** What is paid for forgetting nothing: measured only when it is asked for, since it takes long. */
async function measureLogs(options: BenchOptions): Promise<Measured> {
  const rows: Row[] = [];
  const results = new Map<string, DurableFigures>();
  for (const scene of durableScenes.filter(({ id }) => isWanted(options, id))) {
    results.set(scene.id, await measureDurable(scene, options.rounds));
    const own = durableRows(scene, results satisfies DurableResults);
    rows.push(...own);
    for (const row of own) console.log(printRow(row));
  }
  return { machine: machineOf(options), rows, profiles: [], results: Object.fromEntries(results) };
}

/** What finding a conversation costs where there are many: measured only when it is asked for, since it takes long. */
async function measureLists(options: BenchOptions): Promise<Measured> {
  const rows: Row[] = [];
  for (const scene of listScenes.filter(({ id }) => isWanted(options, id))) {
    const own = await listRows(scene);
    rows.push(...own);
    for (const row of own) console.log(printRow(row));
  }
  return { machine: { ...machineOf(options), rounds: 1 }, rows, profiles: [], results: {} };
}

/** Whether operators read what has happened: measured only when it is asked for, since the vendor's side waits most of the time. */
async function measureLatency(options: BenchOptions): Promise<Measured> {
  const rows = await latencyRows();
  for (const row of rows) console.log(printRow(row));
  return { machine: { ...machineOf(options), rounds: 1 }, rows, profiles: [], results: {} };
}

/** What a turn costs late in a long session that is compacted: measured only when it is asked for. */
async function measureContexts(options: BenchOptions): Promise<Measured> {
  const rows: Row[] = [];
  const results: Record<string, readonly ContextFigures[]> = {};
  for (const scene of contextScenes.filter(({ id }) => isWanted(options, id))) {
    const measured = await measureContext(scene, options.rounds);
    results[scene.id] = measured;
    const own = contextRows(scene, measured);
    rows.push(...own);
    for (const row of own) console.log(printRow(row));
  }
  return { machine: machineOf(options), rows, profiles: [], results };
}

/** What the streams of other protocols cost beside our own: measured only when it is asked for. */
async function measureMappings(options: BenchOptions): Promise<Measured> {
  const results = await measureProtocols(options.rounds);
  const rows = protocolRows(results);
  const made: Profiled[] = [];
  for (const row of rows) {
    console.log(printRow(row));
    const profile = options.profile ? await profileProtocol(row.id) : undefined;
    if (profile) made.push({ title: `Loopwright: ${row.title}`, profile });
  }
  return { machine: machineOf(options), rows, profiles: made, results };
}

const options = benchOptions(process.argv.slice(2));
const asksFor = (start: string): boolean => options.only.some((one) => one.startsWith(start));
const asksElse =
  options.only.length === 0 ||
  options.only.some(
    (one) =>
      ![youngStart, httpStart, pageStart, durableStart, listsStart, latencyStart, contextStart, protocolsStart].some((start) =>
        one.startsWith(start),
      ),
  );
const rig = await createRig();
try {
  const local = asksElse ? await measureProcess(rig, options) : undefined;
  const young = asksElse || asksFor(youngStart) ? await measureYoung(rig, options) : undefined;
  const served = asksElse || asksFor(httpStart) ? await measureServer(rig, options) : undefined;
  const shown = asksFor(pageStart) ? await measureBrowser(options) : undefined;
  const kept = asksFor(durableStart) ? await measureLogs(options) : undefined;
  const found = asksFor(listsStart) ? await measureLists(options) : undefined;
  const reported = asksFor(latencyStart) ? await measureLatency(options) : undefined;
  const compacted = asksFor(contextStart) ? await measureContexts(options) : undefined;
  const mapped = asksFor(protocolsStart) ? await measureMappings(options) : undefined;
  if (local) console.log(`\n${printTable(local.rows, processColumns)}`);
  if (young) console.log(`\n${printTable(young.rows, processColumns)}`);
  if (served) console.log(`\n${printTable(served.rows, httpColumns)}\n`);
  if (shown) console.log(`\n${printTable(shown.rows, pageColumns)}\n`);
  if (kept) console.log(`\n${printTable(kept.rows, pageColumns)}\n`);
  if (found) console.log(`\n${printTable(found.rows, pageColumns)}\n`);
  if (reported) console.log(`\n${printTable(reported.rows, pageColumns)}\n`);
  if (compacted) console.log(`\n${printTable(compacted.rows, pageColumns)}\n`);
  if (mapped) console.log(`\n${printTable(mapped.rows, pageColumns)}\n`);
  mkdirSync(join(root, "bench/results"), { recursive: true });
  writeFileSync(
    join(root, "bench/results/latest.json"),
    `${JSON.stringify({ local, young, served, shown, kept, found, reported, compacted, mapped }, null, 2)}\n`,
  );
  if (options.profile)
    console.log([...(local?.profiles ?? []), ...(young?.profiles ?? []), ...(served?.profiles ?? [])].map(profileText).join("\n"));
  if (options.write) {
    const sections = [
      ...(local ? [processSection(local)] : []),
      ...(young ? [youngSection(young)] : []),
      ...(served ? [httpSection(served)] : []),
      ...(shown ? [pageSection(shown)] : []),
      ...(kept ? [durableSection(kept)] : []),
      ...(found ? [listsSection(found)] : []),
      ...(reported ? [latencySection(reported)] : []),
      ...(compacted ? [contextSection(compacted)] : []),
      ...(mapped ? [protocolsSection(mapped)] : []),
    ];
    writeFileSync(page, performancePage(readFileSync(page, "utf8"), sections));
  }
} finally {
  rig.close();
}
