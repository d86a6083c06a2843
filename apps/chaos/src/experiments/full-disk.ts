/* D1: the disk fills up, at another byte each time, while people talk. Nothing is acknowledged that is not there, and all goes on once there is room. */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "@loopwright/core/testing";
import type { Ground, GroundPlan } from "../world/ground.ts";
import { textOfJob } from "../world/job.ts";
import type { StoreSettings } from "../world/node-settings.ts";
import { startWorld } from "../world/world.ts";
import { gatherCrowd } from "./crowd.ts";
import type { Experiment, Outcome } from "./experiment.ts";

const diskSize = "48m";
const healMs = 10_000;

/** A small disk of its own in memory. */
interface SmallDisk {
  readonly folder: string;
  /** Leaves so many bytes free. */
  fill(leaveBytes: number): Promise<void>;
  free(): Promise<void>;
  close(): Promise<void>;
}

async function smallDisk(): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), "loopwright-disk-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${diskSize}`, "tmpfs", folder]);
  if (mounted.status !== 0) throw new Error(`A small disk could not be mounted: ${mounted.stderr}`);
  const ballast = join(folder, "ballast");
  return {
    folder,
    async fill(leaveBytes) {
      const { bavail, bsize } = await statfs(folder);
      await writeFile(ballast, new Uint8Array(Math.max(0, bavail * bsize - leaveBytes))).catch(() => {});
    },
    free: () => rm(ballast, { force: true }),
    async close() {
      spawnSync("umount", ["-l", folder]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface FullDiskOptions {
  readonly ground: GroundPlan;
  readonly times: number;
}

export function fullDisk({ ground: plan, times }: FullDiskOptions): Experiment {
  const name = `full-disk-${plan.name}`;
  return {
    name,
    skip: () => (process.platform === "linux" && process.getuid?.() === 0 ? undefined : "Only root on Linux can mount a small disk."),
    async run(seed, say): Promise<Outcome> {
      const random = seededRandom(seed);
      const disk = await smallDisk();
      const laid = await plan.lay(seed);
      const ground: Ground = { ...laid, store: (): StoreSettings => laid.store(disk.folder) };
      const world = await startWorld({ ground, nodes: 1, leaseMs: 3_000, sweepMs: 500 });
      const failures: string[] = [];
      const statuses = new Map<number, number>();
      try {
        const taste = { tools: ["pay", "ask"] as const, turnsMax: 1, wordsMax: 40, gapMsMax: 2, toolMsMax: 10 };
        const crowd = await gatherCrowd({ world, sessions: 4, random: seededRandom(seed + 1), taste, watchers: [{}] });
        for (let time = 1; time <= times; time++) {
          await disk.fill(Math.floor(random() * 64 * 1024));
          const until = performance.now() + 300 + random() * 700;
          for (let count = 0; performance.now() < until; count++) {
            const { status, code } = await write(world.pick(random), `d${time}-${count}`);
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
            if (status >= 400 && status !== 507 && status !== 503)
              failures.push(`D1: on a full disk a write was answered with ${status} ${code}`);
          }
          await disk.free();
          const healedAt = performance.now();
          let isBack = false;
          for (let count = 0; !isBack && performance.now() < healedAt + healMs; count++)
            isBack = (await write(world.pick(random), `h${time}-${count}`)).status < 300;
          if (!isBack) failures.push(`D1: there is room again and nothing is written within ${healMs} ms`);
          if (time % 10 === 0) say(`${name}: ${time} of ${times}`);
        }
        const judged = await crowd.judge();
        return {
          failures: [...failures, ...judged.flaws],
          figures: [
            { name: "times the disk was full", value: times },
            ...[...statuses]
              .sort(([a], [b]) => a - b)
              .map(([status, value]) => ({ name: `writes answered with ${status} meanwhile`, value })),
            { name: "acknowledged inputs", value: judged.inputs },
            { name: "acknowledged inputs lost", value: judged.lost, bound: { exactly: 0 } as const },
            { name: "inputs doubled", value: judged.doubled, bound: { exactly: 0 } as const },
            { name: "double starts of once tools", value: judged.doubleStarts, bound: { exactly: 0 } as const },
          ],
        };
      } finally {
        await world.close();
        await laid.close();
        await disk.close();
      }
    },
  };
}

/** One short message in the first session. */
async function write(base: string, key: string): Promise<{ readonly status: number; readonly code: string }> {
  try {
    const response = await fetch(`${base}/api/sessions/s0/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify({ message: textOfJob({ id: key, turns: [{ words: 1, gapMs: 0 }] }) }),
      signal: AbortSignal.timeout(10_000),
    });
    const body = (await response.json()) as { readonly code?: string };
    return { status: response.status, code: body.code ?? "" };
  } catch (error) {
    return { status: 599, code: String(error) };
  }
}
