import { spawnSync } from "node:child_process";
import { mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const diskSize = "48m";

/** A small disk of its own in memory. */
export interface SmallDisk {
  readonly folder: string;
  /** Leaves so many bytes free. */
  fill(leaveBytes: number): Promise<void>;
  free(): Promise<void>;
  close(): Promise<void>;
}

/** Only root on Linux can make one. */
export async function smallDisk(): Promise<SmallDisk> {
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
