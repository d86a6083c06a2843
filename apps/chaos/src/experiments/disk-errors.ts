/* D2: the disk answers with EIO at random while people talk, then every sync fails, then it is well. Nothing is acknowledged that was not synced. */
import { seededRandom } from "@loopwright/core/memory";
import type { DiskCall, DiskControl, DiskFaults } from "@loopwright/simulator/node";
import { type GroundPlan, onFailingDisk } from "../world/ground.ts";
import type { World } from "../world/world.ts";
import { askToWrite } from "./crowd/ask-to-write.ts";
import { type Crowd, gatherCrowd } from "./crowd/crowd.ts";
import { judgeCrowd, promiseFigures } from "./crowd/judge-crowd.ts";
import { type Experiment, percentile } from "./experiment.ts";
import { inWorld } from "./in-world.ts";

const healMs = 10_000;
const share = { least: 0.01, most: 0.3 };
const sessions = 4;
/** So many writes are asked for while no sync succeeds. */
const unsyncedWrites = 3;

export interface DiskErrorsOptions {
  readonly ground: GroundPlan;
  readonly storms: number;
  /** What may fail in a storm. */
  readonly calls: readonly DiskCall[];
}

export function diskErrors({ ground, storms, calls }: DiskErrorsOptions): Experiment {
  const plan = { name: `disk-errors-${ground.name}`, ground: onFailingDisk(ground), nodes: 1, leaseMs: 3_000, sweepMs: 500 };
  return inWorld(plan, async ({ world, ground: { failingDisk }, seed, say }) => {
    const random = seededRandom(seed);
    const jobProfile = { tools: ["pay", "ask"] as const, turnsMax: 1, wordsMax: 40, gapMsMax: 2, toolMsMax: 10 };
    const crowd = await gatherCrowd({ world, sessions, random: seededRandom(seed + 1), jobProfile, watchers: [{}], guests: 0 });
    // Modules that are loaded at their first use are no part of the disk.
    await haveSpoken(crowd);
    const [node] = world.nodes;
    const disk = await failingDisk?.control(node?.pid ?? 0);
    if (!disk) throw new Error("The disk of the node cannot be made to fail.");
    const worst = Object.fromEntries(calls.map((call) => [call, share.most]));
    const writer = createWriter(world, random);
    const recoveries: number[] = [];
    for (let storm = 1; storm <= storms && node?.isAlive; storm++) {
      await rage(disk, writer, { faults: storm === 1 ? worst : someFaults(calls, random), storm, lastMs: 300 + random() * 700 });
      recoveries.push(...(await recover(disk, writer, storm)));
      if (storm % 10 === 0) say(`${storm} of ${storms}`);
    }
    await disk.close();
    if (!node?.isAlive) writer.failures.push("D2: the node did not survive its disk");
    const judged = await judgeCrowd(world, crowd);
    const [refused, lost] = [writer.refused(), await writer.lost()];
    return {
      failures: [...writer.failures, ...judged.flaws],
      figures: [
        { name: "storms on the disk", value: recoveries.length / sessions, bound: { exactly: storms } },
        ...writer.statuses(),
        { name: "writes that were refused meanwhile", value: refused, bound: { least: 1 } },
        { name: "writes acknowledged meanwhile and lost", value: lost, bound: { exactly: 0 } },
        { name: "until a session took a write after healing, p99", value: Math.round(percentile(recoveries, 0.99)), unit: "ms" },
        { name: "until a session took a write after healing, max", value: Math.round(percentile(recoveries, 1)), unit: "ms" },
        ...promiseFigures(judged),
      ],
    };
  });
}

/** Resolves when each has answered once. */
async function haveSpoken({ places }: Crowd): Promise<void> {
  const until = performance.now() + healMs;
  while (places.some(({ person }) => person.acknowledged.length === 0) && performance.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Some calls fail, each with a share of its own. */
function someFaults(calls: readonly DiskCall[], random: () => number): DiskFaults {
  const some = calls.filter(() => random() < 0.6);
  return Object.fromEntries((some.length > 0 ? some : calls).map((call) => [call, share.least + random() * (share.most - share.least)]));
}

type Writer = ReturnType<typeof createWriter>;

/** A writer that asks for writes one after another, each once, and records the outcomes. */
function createWriter(world: World, random: () => number) {
  const failures: string[] = [];
  const statuses = new Map<number, number>();
  const acknowledged: { readonly session: string; readonly key: string }[] = [];
  return {
    failures,
    async write(session: string, key: string): Promise<boolean> {
      const { status, code } = await askToWrite({ base: world.pick(random), session, key });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status < 300) acknowledged.push({ session, key });
      else if (status !== 503 && status !== 507)
        failures.push(`D2: on a failing disk the write ${key} was answered with ${status} ${code}`);
      return status < 300;
    },
    statuses: () => [...statuses].sort(([a], [b]) => a - b).map(([status, value]) => ({ name: `writes answered with ${status}`, value })),
    refused: () => [...statuses].reduce((so, [status, count]) => so + (status < 300 ? 0 : count), 0),
    /** How many writes were acknowledged and are not in the log. */
    async lost(): Promise<number> {
      const store = await world.openStore();
      try {
        const ids = [...new Set(acknowledged.map(({ session }) => session))];
        const logs = await Promise.all(ids.map((session) => store.log.read({ scope: "local", session })));
        const keys = new Set(logs.flat().map((fact) => (fact.type === "input.accepted" ? fact.idempotencyKey : undefined)));
        return acknowledged.filter(({ key }) => !keys.has(key)).length;
      } finally {
        await store.close();
      }
    },
  };
}

interface Rage {
  readonly faults: DiskFaults;
  readonly storm: number;
  readonly lastMs: number;
}

/** Calls fail at random; then no sync succeeds, and so nothing may be acknowledged. */
async function rage(disk: DiskControl, writer: Writer, { faults, storm, lastMs }: Rage): Promise<void> {
  await disk.fail(faults);
  const until = performance.now() + lastMs;
  for (let count = 0; performance.now() < until; count++) await writer.write(`s${count % sessions}`, `d${storm}-${count}`);
  await disk.fail({ fsync: 1, fdatasync: 1 });
  for (let count = 0; count < unsyncedWrites; count++)
    if (await writer.write(`s${count % sessions}`, `u${storm}-${count}`))
      writer.failures.push(`D2: the write u${storm}-${count} was acknowledged, and no sync succeeded`);
}

/** How long each session took until it took a write again. */
async function recover(disk: DiskControl, writer: Writer, storm: number): Promise<readonly number[]> {
  await disk.heal();
  const healedAt = performance.now();
  return Promise.all(
    Array.from({ length: sessions }, async (_, session) => {
      let isBack = false;
      for (let count = 0; !isBack && performance.now() < healedAt + healMs; count++) {
        isBack = await writer.write(`s${session}`, `h${storm}-${session}-${count}`);
        if (!isBack) await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const took = performance.now() - healedAt;
      if (!isBack) writer.failures.push(`D2: the disk is well and session s${session} takes nothing for ${healMs} ms`);
      return took;
    }),
  );
}
