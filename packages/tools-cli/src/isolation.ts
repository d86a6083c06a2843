import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import type { CliLimits } from "./program.ts";

/** What this system can do to keep a child process apart. */
export interface Isolation {
  /** Namespaces of its own: its processes see and outlive nothing, and have no network unless they are given one. */
  readonly namespaces: boolean;
  /** Limits of memory, files and processes that the kernel keeps. */
  readonly resourceLimits: boolean;
}

const unshare = "/usr/bin/unshare";
const prlimit = "/usr/bin/prlimit";
const namespaceFlags = ["--user", "--map-current-user", "--mount-proc", "--ipc", "--pid", "--fork", "--kill-child=KILL"];

let found: Promise<Isolation> | undefined;

/** What this system can do, tried once in a process: some containers refuse namespaces. */
export function findIsolation(): Promise<Isolation> {
  found ??= probe();
  return found;
}

async function probe(): Promise<Isolation> {
  if (process.platform !== "linux") return { namespaces: false, resourceLimits: false };
  const [resourceLimits, namespaces] = await Promise.all([
    runs(prlimit, ["--core=0", "--", prlimit, "--version"]),
    runs(unshare, [...namespaceFlags, "--net", "--", unshare, "--version"]),
  ]);
  return { namespaces, resourceLimits };
}

async function runs(file: string, args: readonly string[]): Promise<boolean> {
  const isThere = await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isThere) return false;
  return new Promise((resolve) => {
    execFile(file, args, { env: {}, timeout: 10_000 }, (error) => resolve(error === null));
  });
}

/** The program with its arguments, behind the programs of the system that keep it apart. Each argument stays one argument. */
export function isolatedCommand(
  command: { readonly path: string; readonly args: readonly string[]; readonly network: boolean },
  isolation: Isolation,
  limits: CliLimits,
): readonly [file: string, ...args: string[]] {
  const { path, args, network } = command;
  const { memoryBytesMax, processesMax, openFilesMax, fileBytesMax, durationMs } = limits;
  let line: [string, ...string[]] = [path, ...args];
  if (isolation.resourceLimits)
    line = [
      prlimit,
      "--core=0",
      `--cpu=${Math.ceil(durationMs / 1_000) + 1}`,
      `--data=${memoryBytesMax}`,
      `--nofile=${openFilesMax}`,
      `--fsize=${fileBytesMax}`,
      // Outside of a namespace this limit would count all processes of the user.
      ...(isolation.namespaces ? [`--nproc=${processesMax}`] : []),
      "--",
      ...line,
    ];
  if (isolation.namespaces) line = [unshare, ...namespaceFlags, ...(network ? [] : ["--net"]), "--", ...line];
  return line;
}
