import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Which process holds a lease: enough to see that it is dead, and never to take another for it. */
export interface ProcessIdentity {
  /** Machine since its last start, and the set of process ids in it; ids are only compared within one. */
  readonly machine: string;
  readonly pid: number;
  /** When the process began, in the kernel's own count; empty where that is unknown. */
  readonly started: string;
}

/** This process. */
export function ownIdentity(): ProcessIdentity {
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const namespace = attempt(() => readlinkSync("/proc/self/ns/pid"));
  return { machine: `${hostname()} ${boot ?? ""} ${namespace ?? ""}`, pid: process.pid, started: statOf(process.pid)?.started ?? "" };
}

/** True only when the process that wrote this identity cannot be alive: it is of this machine, and gone or another by now. */
export function isDead(identity: string | null, own: ProcessIdentity): boolean {
  const other = parse(identity);
  if (!other || other.machine !== own.machine || (other.pid === own.pid && other.started === own.started)) return false;
  const stat = statOf(other.pid);
  if (!stat) return isGone(other.pid);
  return stat.isEnded || (other.started !== "" && stat.started !== other.started);
}

function parse(identity: string | null): ProcessIdentity | undefined {
  const value: unknown = identity === null ? undefined : attempt(() => JSON.parse(identity));
  if (typeof value !== "object" || value === null || !("machine" in value && "pid" in value && "started" in value)) return undefined;
  const { machine, pid, started } = value;
  return typeof machine === "string" && typeof pid === "number" && typeof started === "string" ? { machine, pid, started } : undefined;
}

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
