/*
 * Owns: one child process, from its start until none of its processes is left: output, limits, end.
 * Does not own: which programs and arguments are allowed, what the model reads.
 *
 * I1 No shell: the program gets each argument as it is. I2 Its environment is what it is given. I3 It has the input that it is given, and no terminal.
 * I4 When the promise resolves no process that it started is left. Without namespaces a process that leaves its group and clears its environment is not found.
 * I5 If this process dies before, whatever ends it, the group of the program is killed. Not on Windows.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { usageInside } from "@loopwright/tools-files";
import { type Isolation, isolatedCommand } from "./isolation.ts";
import { guardGroup } from "./process-guard.ts";
import { killGroup, killMarked, markedProcesses, markVariable } from "./process-tree.ts";
import type { CliLimits } from "./program.ts";

/** One child process. */
export interface ProgramRun {
  /** Absolute path of the program. */
  readonly path: string;
  readonly args: readonly string[];
  /** Its working directory; it exists. */
  readonly directory: string;
  /** All variables that it has. */
  readonly variables: Readonly<Record<string, string>>;
  readonly limits: CliLimits;
  readonly isolation: Isolation;
  readonly network: boolean;
  readonly signal: AbortSignal;
  /** What its standard input holds. Default: nothing. */
  readonly input?: string;
  /** Output as it comes, that of both streams. */
  onOutput(text: string, stream: "stdout" | "stderr"): void;
}

/** Why a program was stopped before its end. */
export type StopReason = "aborted" | "duration" | "output" | "processes" | "files";

/** How a program ended. */
export interface ProgramOutcome {
  /** Absent after a signal. */
  readonly exitCode?: number;
  /** The signal that ended it. */
  readonly signalName?: string;
  readonly stopped?: StopReason;
  /** Whether output was dropped. */
  readonly isCut: boolean;
}

const processesWatchMs = 200;
const filesWatchMs = 1_000;
const graceMs = 1_000;

/** Runs a program and waits until all of its processes have ended. @throws Error of the system where it cannot be started */
export async function runProgram(run: ProgramRun): Promise<ProgramOutcome> {
  const mark = randomUUID();
  const [file, ...args] = isolatedCommand(run, run.isolation, run.limits);
  const child = spawn(file, args, {
    cwd: run.directory,
    env: { ...run.variables, [markVariable]: mark },
    stdio: [run.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    detached: true,
    shell: false,
    windowsHide: true,
  });
  // A program that ends, or closes its input, without reading it to the end: how it ends is what counts.
  child.stdin?.on("error", () => {});
  child.stdin?.end(run.input);
  const guard = guardGroup(child.pid);
  const running = new RunningProgram(run, child, mark);
  try {
    return await running.end();
  } finally {
    await running.clear();
    guard?.kill("SIGKILL");
  }
}

class RunningProgram {
  readonly #run: ProgramRun;
  readonly #child: ChildProcess;
  readonly #mark: string;
  readonly #timers: NodeJS.Timeout[] = [];
  #stopped: StopReason | undefined;
  #bytes = 0;
  #isCounting = false;

  constructor(run: ProgramRun, child: ChildProcess, mark: string) {
    this.#run = run;
    this.#child = child;
    this.#mark = mark;
    this.#read("stdout");
    this.#read("stderr");
  }

  async end(): Promise<ProgramOutcome> {
    const { signal, limits } = this.#run;
    const onAbort = (): void => this.#stop("aborted");
    this.#timers.push(
      setTimeout(() => this.#stop("duration"), limits.durationMs),
      setInterval(() => void this.#lookAtProcesses(), processesWatchMs),
      setInterval(() => void this.#lookAtFiles(), filesWatchMs),
    );
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    try {
      const [exitCode, signalName] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
        this.#child.once("error", reject);
        this.#child.once("exit", (...end) => resolve(end));
      });
      // Its streams stay open as long as a process that it left behind has them.
      await this.clear();
      await this.#drained();
      if (await this.#hasTooManyFiles()) this.#stopped ??= "files";
      return {
        ...(exitCode === null ? {} : { exitCode }),
        ...(signalName === null ? {} : { signalName }),
        ...(this.#stopped ? { stopped: this.#stopped } : {}),
        isCut: this.#bytes > limits.outputBytesMax,
      };
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Ends what is left of it. */
  async clear(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    if (this.#child.pid === undefined) return;
    killGroup(this.#child.pid, "SIGKILL");
    await killMarked(this.#mark);
  }

  #read(name: "stdout" | "stderr"): void {
    const decoder = new TextDecoder();
    const { outputBytesMax, droppedBytesMax } = this.#run.limits;
    this.#child[name]?.on("data", (chunk: Buffer) => {
      const room = Math.max(0, outputBytesMax - this.#bytes);
      this.#bytes += chunk.length;
      if (room > 0) this.#give(decoder.decode(chunk.subarray(0, room), { stream: true }), name);
      if (this.#bytes > droppedBytesMax) this.#stop("output");
    });
    this.#child[name]?.once("end", () => this.#give(decoder.decode(), name));
  }

  #give(text: string, name: "stdout" | "stderr"): void {
    if (text !== "") this.#run.onOutput(text, name);
  }

  async #drained(): Promise<void> {
    const streams = [this.#child.stdout, this.#child.stderr].filter(
      (stream) => stream !== null && !stream.destroyed && !stream.readableEnded,
    );
    await Promise.all(
      streams.map(
        (stream) =>
          new Promise<void>((resolve) => {
            // A process of another user may hold the stream: what it writes later is lost.
            const timer = setTimeout(() => stream?.destroy(), graceMs);
            stream?.once("close", () => {
              clearTimeout(timer);
              resolve();
            });
          }),
      ),
    );
  }

  /** Asks it to end, and kills it and all its processes when it does not. */
  #stop(reason: StopReason): void {
    if (this.#stopped || this.#child.pid === undefined) return;
    this.#stopped = reason;
    const leader = this.#child.pid;
    const gentle = reason === "aborted" || reason === "duration";
    if (!gentle) return void this.#kill(leader);
    killGroup(leader, "SIGTERM");
    this.#timers.push(setTimeout(() => void this.#kill(leader), graceMs));
  }

  async #kill(leader: number): Promise<void> {
    killGroup(leader, "SIGKILL");
    await killMarked(this.#mark);
  }

  async #lookAtProcesses(): Promise<void> {
    // The programs that keep it apart are counted too: at most two.
    const processesMax = this.#run.limits.processesMax + 2;
    if ((await markedProcesses(this.#mark)).length > processesMax) this.#stop("processes");
  }

  async #lookAtFiles(): Promise<void> {
    if (this.#isCounting || this.#stopped) return;
    this.#isCounting = true;
    const hasTooMany = await this.#hasTooManyFiles();
    this.#isCounting = false;
    if (hasTooMany) this.#stop("files");
  }

  async #hasTooManyFiles(): Promise<boolean> {
    const { entriesMax, directoryBytesMax } = this.#run.limits;
    try {
      const { entries, bytes } = await usageInside(this.#run.directory, entriesMax);
      return entries > entriesMax || bytes > directoryBytesMax;
    } catch {
      // What the program moves while it is counted is counted the next time.
      return false;
    }
  }
}
