import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

const memory = "/dev/shm";
const prefix = "loopwright-tests-";
const freeBytesMin = 4 * 1024 ** 3;

/**
 * Creates the folder for the files of one test run. It lies in memory where the system has a file system in memory with 4 GiB free that may hold
 * programs: most tests of stores otherwise wait for `fsync` of a disk that they do not test. `undefined`: the system's folder for temporary
 * files is used, also where `TMPDIR` names one.
 */
export function makeTestFolder(): string | undefined {
  const known = process.env["LOOPWRIGHT_TEST_FOLDER"];
  if (known !== undefined) return known;
  if (process.env["TMPDIR"] !== undefined || !isUsable()) return undefined;
  removeAbandoned();
  const folder = mkdtempSync(join(memory, `${prefix}${process.pid}-`));
  // Some tests start a process as another user, which must reach its own folder in here.
  chmodSync(folder, 0o755);
  process.env["LOOPWRIGHT_TEST_FOLDER"] = folder;
  return folder;
}

/** After all tests: vitest calls it. A run that a test starts has the folder of the outer one, and leaves it there. */
export function teardown(): void {
  const folder = process.env["LOOPWRIGHT_TEST_FOLDER"];
  if (folder?.startsWith(join(memory, `${prefix}${process.pid}-`))) rmSync(folder, { recursive: true, force: true });
}

function isUsable(): boolean {
  try {
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" "))
      .findLast(([, place]) => place === memory);
    const { bavail, bsize } = statfsSync(memory);
    return mount?.[2] === "tmpfs" && !mount[3]?.split(",").includes("noexec") && bavail * bsize >= freeBytesMin;
  } catch {
    return false;
  }
}

/** Folders of runs that were killed: what lies in memory would stay until the next start of the machine. */
function removeAbandoned(): void {
  for (const name of readdirSync(memory)) {
    const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) removeWherePossible(join(memory, name));
  }
}

/** A test that was killed may have left a file system mounted in its folder, and another user's folders are theirs. */
function removeWherePossible(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // It costs memory, and does not stop this run.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
