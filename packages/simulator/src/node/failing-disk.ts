import { existsSync } from "node:fs";
import { constants, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Debian's libfiu: it intercepts a process's calls of the C library and makes them fail. */
const libraries: readonly string[] = ["/usr/lib/fiu/fiu_run_preload.so", "/usr/lib/fiu/fiu_posix_preload.so"];

/**
 * Calls that only files have, in Node.js and in SQLite. `posix/io/rw/write` is not among them: the loop of Node.js wakes itself up by it, and ends the
 * process when that fails.
 */
const diskCalls = {
  fsync: "posix/io/sync/fsync",
  fdatasync: "posix/io/sync/fdatasync",
  pwrite: "posix/io/rw/pwrite",
  open: "posix/io/oc/open",
  rename: "posix/io/dir/rename",
} as const;
export type DiskCall = keyof typeof diskCalls;

/** Which share of the calls fails, from 0 to 1. */
export type DiskFaults = { readonly [call in DiskCall]?: number };

/** The control of a failing disk, for one process. */
export interface DiskControl {
  /** From now on these calls fail with EIO at random, and no others. */
  fail(faults: DiskFaults): Promise<void>;
  heal(): Promise<void>;
  close(): Promise<void>;
}

/** Makes disk operations of child processes fail. */
export interface FailingDisk {
  /** Environment variables of a process whose disk is to be controlled. */
  readonly environment: { readonly [name: string]: string };
  /** The same, but the disk fails from the start, until a control with the same faults heals it. */
  environmentWith(faults: DiskFaults): { readonly [name: string]: string };
  /** The disk of a process that was started so. */
  control(pid: number): Promise<DiskControl>;
  close(): Promise<void>;
}

/** Why no disk can fail here; `undefined` where one can. */
export function failingDiskMissing(): string | undefined {
  const isThere = process.platform === "linux" && libraries.every((library) => existsSync(library));
  return isThere ? undefined : `Disks fail by Debian's fiu-utils, and there is no ${libraries[0]}.`;
}

const eio = 5;

export async function failingDisk(): Promise<FailingDisk> {
  const folder = await mkdtemp(join(tmpdir(), "loopwright-fiu-"));
  const prefix = join(folder, "control");
  const environment = { LD_PRELOAD: libraries.join(" "), FIU_CTRL_FIFO: prefix };
  return {
    environment,
    environmentWith: (faults) => ({
      ...environment,
      FIU_ENABLE: commandsOf(faults)
        .map(({ text }) => text)
        .join("\n"),
    }),
    control: (pid) => controlOf(`${prefix}-${pid}`),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

function commandsOf(faults: DiskFaults): readonly { readonly call: DiskCall; readonly text: string }[] {
  const calls = Object.entries(faults) as readonly [DiskCall, number][];
  return calls.map(([call, share]) => ({ call, text: `enable_random name=${diskCalls[call]},probability=${share},failinfo=${eio}` }));
}

/** The pipes stay open: the thread that reads them would have to open them again, which may fail as well. */
async function controlOf(prefix: string): Promise<DiskControl> {
  const commands = await open(`${prefix}.in`, constants.O_RDWR);
  const replies = await open(`${prefix}.out`, constants.O_RDONLY);
  const on = new Set<DiskCall>();
  const command = async (text: string): Promise<void> => {
    await commands.write(`${text}\n`);
    const { bytesRead, buffer } = await replies.read(Buffer.alloc(64));
    const reply = buffer.toString("utf8", 0, bytesRead).trim();
    if (reply !== "0") throw new Error(`The control of the failing disk answered the command ${text} with ${reply || "nothing"}.`);
  };
  const heal = async (): Promise<void> => {
    for (const call of on) await command(`disable name=${diskCalls[call]}`);
    on.clear();
  };
  return {
    heal,
    async fail(faults) {
      await heal();
      for (const { call, text } of commandsOf(faults)) {
        on.add(call);
        await command(text);
      }
    },
    async close() {
      await commands.close();
      await replies.close();
    },
  };
}
