import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Which process this is: enough to see that it is dead, and never to take another for it. */
export interface ProcessIdentity {
  /** The machine since its last start, and the set of process ids in it; ids are only compared within one. */
  readonly machine: string;
  readonly pid: number;
  /** When the process began, in the kernel's own count; empty where that is unknown. */
  readonly started: string;
}

/** This process. */
export function ownIdentity(): ProcessIdentity {
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()) ?? "";
  const namespace = attempt(() => readlinkSync("/proc/self/ns/pid")) ?? "";
  return { machine: `${hostname()} ${boot} ${namespace}`, pid: process.pid, started: statOf(process.pid)?.started ?? "" };
}

/**
 * `dead`: it cannot be alive. `foreign`: it is of another machine, or of this one before its last start, so that nobody here can know. A machine
 * that was started anew keeps its name.
 */
export function fateOf(other: ProcessIdentity, own: ProcessIdentity): "alive" | "dead" | "foreign" {
  if (other.machine !== own.machine) return hostOf(other) === hostOf(own) && bootOf(other) !== bootOf(own) ? "dead" : "foreign";
  const stat = statOf(other.pid);
  if (!stat) return isGone(other.pid) ? "dead" : "alive";
  return stat.isEnded || (other.started !== "" && stat.started !== other.started) ? "dead" : "alive";
}

const hostOf = ({ machine }: ProcessIdentity): string => machine.split(" ")[0] ?? "";
const bootOf = ({ machine }: ProcessIdentity): string => machine.split(" ")[1] ?? "";

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
