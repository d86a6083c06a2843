import { readdir, readFile } from "node:fs/promises";

/** The variable that marks the processes of one call: children inherit it. */
export const markVariable = "LOOPWRIGHT_CALL_MARK";

/** The living processes that have this mark in the environment that they began with. Empty where the system has no `/proc`. */
export async function markedProcesses(mark: string): Promise<readonly number[]> {
  const wanted = `${markVariable}=${mark}`;
  const names = await readdir("/proc").catch((): string[] => []);
  const found = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        // Another user's process cannot be read, and one that has ended has no environment.
        const text = await readFile(`/proc/${name}/environ`, "latin1").catch(() => "");
        return text.split("\0").includes(wanted) ? [Number(name)] : [];
      }),
  );
  return found.flat();
}

/** Kills a process group. */
export function killGroup(leader: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(process.platform === "win32" ? leader : -leader, signal);
  } catch {
    // It has ended.
  }
}

const roundsMax = 50;

/** Kills all processes with this mark, also those that left their group, until there are none. */
export async function killMarked(mark: string): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const left = await markedProcesses(mark);
    if (left.length === 0) return;
    for (const id of left) {
      try {
        process.kill(id, "SIGKILL");
      } catch {
        // It has ended.
      }
    }
  }
}
