import { type ChildProcess, spawn } from "node:child_process";

/**
 * A small shell that kills the process group when the pipe to this process ends: if this process dies, whatever ends it, nothing of the group is left.
 * `undefined` where there is no such shell. To be killed when the group has ended.
 */
export function guardGroup(leader: number | undefined): ChildProcess | undefined {
  if (leader === undefined || process.platform === "win32") return undefined;
  const guard: ChildProcess = spawn("/bin/sh", ["-c", `read -r line; kill -KILL "-$1"`, "guard", String(leader)], {
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guard.on("error", () => {});
  // Without file descriptors left there is no pipe, and `error` follows.
  guard.stdin?.on("error", () => {});
  guard.unref();
  return guard;
}
