import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
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

const mount = (folder: string): SpawnSyncReturns<string> =>
  spawnSync("mount", ["-t", "tmpfs", "-o", `size=${diskSize}`, "tmpfs", folder], { encoding: "utf8" });

let missing: { readonly reason: string | undefined } | undefined;

/** Why no small disk can be mounted here, found out by trying once; `undefined` where one can. Root in a container often may not. */
export function smallDiskMissing(): string | undefined {
  missing ??= tryToMount();
  return missing.reason;
}

function tryToMount(): { readonly reason: string | undefined } {
  if (process.platform !== "linux") return { reason: "A small disk can be mounted on Linux only." };
  const folder = mkdtempSync(join(tmpdir(), "loopwright-disk-"));
  try {
    const { status, stderr } = mount(folder);
    if (status === 0) spawnSync("umount", ["-l", folder]);
    return { reason: status === 0 ? undefined : `A small disk cannot be mounted here: ${stderr?.trim() || "there is no mount"}` };
  } finally {
    rmdirSync(folder);
  }
}

/** Rejects where `smallDiskMissing` gives a reason. */
export async function smallDisk(): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), "loopwright-disk-"));
  const mounted = mount(folder);
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
