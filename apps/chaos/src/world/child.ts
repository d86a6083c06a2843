import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Longest a process may take to be ready. */
const readyMs = 30_000;
/** Characters of its standard error that are kept, and those of them that an error shows. */
const complaintsMax = 20_000;
const lastWordsMax = 2_000;

/** How a process ended: its exit code, or the signal that it died of. */
export type End = number | NodeJS.Signals | null;

/** Variables that a process has beside those of the rig. */
export type Environment = { readonly [name: string]: string };

/** A process of the world. */
export interface Child {
  readonly pid: number;
  readonly port: number;
  readonly ended: Promise<End>;
  readonly isAlive: boolean;
  signal(signal: NodeJS.Signals): void;
  /** The next message of this type. */
  ask<T>(type: string): Promise<T>;
  /** Everything it complained about so far. */
  readonly complaints: string;
}

/** A process ended before it was ready. */
export class FailedStart extends Error {
  /** `undefined`: it was not ready in time, and was killed for it. */
  readonly end: End | undefined;
  constructor(message: string, end: End | undefined) {
    super(message);
    this.end = end;
  }
}

export interface ChildOptions {
  readonly environment?: Environment | undefined;
  /** Gets all that it prints, on either of its outputs. */
  readonly receive?: ((text: string) => void) | undefined;
}

/** Starts a script of this folder and waits until it reports that it is ready. @throws FailedStart when it ends before */
export async function startChild(
  script: string,
  args: readonly string[],
  { environment = {}, receive }: ChildOptions = {},
): Promise<Child> {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child: ChildProcess = fork(file, args, {
    stdio: ["ignore", receive ? "pipe" : "ignore", "pipe", "ipc"],
    env: { ...process.env, ...environment },
    execArgv: [...process.execArgv, "--expose-gc"],
  });
  let complaints = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => receive?.(text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    receive?.(text);
    complaints = (complaints + text).slice(-complaintsMax);
  });
  let isAlive = true;
  const ended = new Promise<End>((resolve) => {
    child.once("exit", (code, signal) => {
      isAlive = false;
      resolve(signal ?? code);
    });
  });
  const ask = <T>(type: string): Promise<T> => answerOf<T>(child, script, type);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, readyMs);
  const { port } = await ask<{ readonly port: number }>("ready").catch(async () => {
    const end = await ended;
    throw new FailedStart(`${script} did not become ready.\n${complaints.slice(-lastWordsMax)}`, isLate ? undefined : end);
  });
  clearTimeout(timer);
  return {
    pid: child.pid ?? 0,
    port,
    ended,
    get isAlive() {
      return isAlive;
    },
    signal: (signal) => void child.kill(signal),
    ask,
    get complaints() {
      return complaints;
    },
  };
}

/** The next message of this type, asked for where it does not come by itself. Rejects when the process ends before. */
function answerOf<T>(child: ChildProcess, script: string, type: string): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const end = (): void => {
      child.off("message", take);
      reject(new Error(`${script} ended while it was asked for ${type}.`));
    };
    const take = (message: unknown): void => {
      const written = message as { readonly type: string };
      if (written.type !== type) return;
      child.off("message", take);
      child.off("exit", end);
      resolve(message as T);
    };
    child.on("message", take);
    child.once("exit", end);
    if (type !== "ready") child.send({ type }, () => {});
  });
}
