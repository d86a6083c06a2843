/* `npm run bench -- [--only <workload>]... [--rounds <n>] [--profile] [--write]` */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BenchOptions, benchOptions } from "./options.ts";
import { sizeRow, startRow } from "./other-rows.ts";
import { type Machine, type Profiled, performancePage, profileText } from "./performance-page.ts";
import { printRow, printTable } from "./print-table.ts";
import { isMissedRow, type Row } from "./row.ts";
import { createRig, type Rig, type SceneResults } from "./run-rounds.ts";
import { sceneRows } from "./scene-rows.ts";
import { scenes } from "./scenes.ts";
import { measureStartUp } from "./start-up.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

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

const options = benchOptions(process.argv.slice(2));
const rig = await createRig();
try {
  const results = await measureScenes(rig, options);
  const rows = [...sceneRows(results)];
  if (isWanted(options, "start")) rows.push(startRow(await measureStartUp(options.rounds)));
  if (isWanted(options, "size")) rows.push(sizeRow());
  const profiled = await profiles(rig, options, rows);
  console.log(`\n${printTable(rows)}\n`);
  const machine = machineOf(options);
  mkdirSync(join(root, "bench/results"), { recursive: true });
  const record = { machine, rows, results: Object.fromEntries(results), profiles: profiled };
  writeFileSync(join(root, "bench/results/latest.json"), `${JSON.stringify(record, null, 2)}\n`);
  if (options.profile) console.log(profiled.map(profileText).join("\n"));
  if (options.write) writeFileSync(join(root, "docs/performance.md"), performancePage(machine, rows, profiled));
} finally {
  rig.close();
}
