import { setTimeout as wait } from "node:timers/promises";
import type { DaemonState } from "./daemon-state.ts";
import { processIdentity } from "./process-identity.ts";

const pollMs = 50;
/** How long the system may take to end a process that was killed. */
const killedMs = 10_000;

/** How a process ended. */
export type StopOutcome = "stopped" | "killed";

/** Asks the process to end, and kills it where it has not after that time. @throws AgentError never; an error of the system where it may not be signalled */
export async function stopDaemon(state: Pick<DaemonState, "pid" | "identity">, timeoutMs: number): Promise<StopOutcome> {
  signal(state, "SIGTERM");
  if (await hasEnded(state, timeoutMs)) return "stopped";
  signal(state, "SIGKILL");
  if (await hasEnded(state, killedMs)) return "killed";
  throw new Error(`The process ${state.pid} does not end.`);
}

function signal({ pid, identity }: Pick<DaemonState, "pid" | "identity">, name: NodeJS.Signals): void {
  if (processIdentity(pid) !== identity) return;
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

async function hasEnded({ pid, identity }: Pick<DaemonState, "pid" | "identity">, withinMs: number): Promise<boolean> {
  for (const end = performance.now() + withinMs; ; ) {
    if (processIdentity(pid) !== identity) return true;
    if (performance.now() >= end) return false;
    await wait(pollMs);
  }
}
