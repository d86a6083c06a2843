import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How a process is started that obeys file permissions, which root does not. */
export interface RestrictedStart {
  /** What stands before its command. */
  readonly prefix: readonly string[];
  /** The user it runs as; absent: the one of this process. */
  readonly uid?: number;
}

const noneThere = 65_534;

/** This user, then root without the capability to bypass permissions (which still reaches root's folders), then another user. */
const candidates: readonly RestrictedStart[] = [
  { prefix: [] },
  { prefix: ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--"] },
  { prefix: [], uid: noneThere },
];

/** Ends with 0 when it can read what it is given and may not write into the read-only folder. */
const probe = `
const { accessSync, constants, readFileSync, statSync, writeFileSync } = require("node:fs");
const [folder, ...paths] = process.argv.slice(1);
for (const path of paths) statSync(path).isDirectory() ? accessSync(path, constants.R_OK | constants.X_OK) : readFileSync(path);
for (const name of ["old", "new"]) {
  let isWritten = true;
  try { writeFileSync(folder + "/" + name, ""); } catch { isWritten = false; }
  if (isWritten) process.exit(3);
}`;

/**
 * How to start a process that can read these files and folders and cannot write the read-only ones. A sentence with the reason where that is
 * impossible: a root user that cannot drop capabilities, in a folder that other users cannot enter.
 */
export function restrictedStart(paths: readonly string[]): RestrictedStart | string {
  const outer = mkdtempSync(join(tmpdir(), "loopwright-modes-"));
  const folder = join(outer, "read-only");
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, "old"), "");
    chmodSync(join(folder, "old"), 0o444);
    chmodSync(folder, 0o555);
    chmodSync(outer, 0o755);
    const found = candidates.find(({ prefix, uid }) => {
      const [program = "", ...words] = [...prefix, process.execPath, "-e", probe, folder, ...paths];
      return spawnSync(program, words, { stdio: "ignore", ...(uid === undefined ? {} : { uid }) }).status === 0;
    });
    return found ?? "No process here obeys the modes of files: root cannot give up its rights, and no other user may enter this folder.";
  } finally {
    chmodSync(folder, 0o755);
    rmSync(outer, { recursive: true, force: true });
  }
}
