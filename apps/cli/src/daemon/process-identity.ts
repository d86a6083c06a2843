import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * What a process and a later one of the same number differ in: when they began. `undefined`: there is no such process, or it has ended and only waits
 * to be collected by its parent.
 */
export function processIdentity(pid: number): string | undefined {
  return process.platform === "linux" ? identityOnLinux(pid) : identityByPs(pid);
}

function identityOnLinux(pid: number): string | undefined {
  try {
    // The name of the program stands in brackets and may hold anything; the state and 19 fields later the start stand behind it.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, startedAt] = [fields[0], fields[19]];
    if (state === "Z" || state === "X" || startedAt === undefined) return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${startedAt}`;
  } catch {
    return undefined;
  }
}

function identityByPs(pid: number): string | undefined {
  try {
    const [state = "", ...start] = execFileSync("ps", ["-o", "stat=,lstart=", "-p", `${pid}`], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    })
      .trim()
      .split(/\s+/);
    return state === "" || state.startsWith("Z") ? undefined : start.join(" ");
  } catch {
    return undefined;
  }
}
