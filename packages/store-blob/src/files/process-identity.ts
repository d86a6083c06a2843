import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Which process this is: enough to see that it is dead, and never to take another for it. */
export interface ProcessIdentity {
  /** The boot and the pid namespace, without which a process id means nothing. Where the platform has neither: the machine's name. */
  readonly machine: string;
  readonly pid: number;
  /** When the process began, in the kernel's own count; empty where that is unknown. */
  readonly started: string;
}

/** This process. */
export function ownIdentity(): ProcessIdentity {
  const [boot, namespace] = [bootId(), attempt(() => readlinkSync("/proc/self/ns/pid"))];
  const machine = boot === undefined || namespace === undefined ? hostname() : `${boot} ${namespace}`;
  return { machine, pid: process.pid, started: statOf(process.pid)?.started ?? "" };
}

/** Names the monotonic clock of this process: times of processes with the same name can be compared. Empty where none is known to be shared. */
export function monotonicClockName(): string {
  const [boot, namespace] = [bootId(), attempt(() => readlinkSync("/proc/self/ns/time"))];
  return boot === undefined || namespace === undefined ? "" : `${boot} ${namespace}`;
}

/**
 * `dead` and `alive` are proved by the process table that both share. `unknown`: it is of another machine, container or boot, or its process
 * id may have been given to another process since.
 */
export function fateOf(other: ProcessIdentity, own: ProcessIdentity): "alive" | "dead" | "unknown" {
  if (other.machine !== own.machine) return "unknown";
  const stat = statOf(other.pid);
  if (!stat) return isGone(other.pid) ? "dead" : "unknown";
  if (stat.isEnded) return "dead";
  if (other.started === "") return "unknown";
  return stat.started === other.started ? "alive" : "dead";
}

const bootId = (): string | undefined => attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());

/** @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html (2026-11-21): the third field is the state, the 22nd the start time. */
function statOf(pid: number): { readonly isEnded: boolean; readonly started: string } | undefined {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // The second field, the name, may hold anything; it ends with the last bracket.
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields && { isEnded: fields[0] === "Z" || fields[0] === "X", started: fields[19] ?? "" };
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
