import { type ChildProcess, spawn } from "node:child_process";

/**
 * A small shell that kills the process when the pipe to this process ends: a query that computes would not see that nothing waits for it. `undefined` where
 * there is no such shell. To be killed when the process has ended.
 */
export function guardProcess(id: number | undefined): ChildProcess | undefined {
  if (id === undefined || process.platform === "win32") return undefined;
  const guard: ChildProcess = spawn("/bin/sh", ["-c", `read -r line; kill -KILL "$1"`, "guard", String(id)], {
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
