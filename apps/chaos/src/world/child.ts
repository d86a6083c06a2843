import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Longest a process may take to be ready. */
const readyMs = 30_000;

/** Variables that a process has beside those of the rig. */
export type Environment = { readonly [name: string]: string };

/** A process of the world. */
export interface Child {
  readonly pid: number;
  readonly port: number;
  /** Resolves with how it ended. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  readonly isAlive: boolean;
  signal(signal: NodeJS.Signals): void;
  /** The next message of this type. */
  ask<T>(type: string): Promise<T>;
  /** Everything it complained about so far. */
  readonly complaints: string;
}

/** Starts a script of this folder and waits until it says that it is ready. @throws Error when it ends before */
export async function startChild(script: string, args: readonly string[], environment: Environment = {}): Promise<Child> {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child: ChildProcess = fork(file, args, {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: { ...process.env, ...environment },
    execArgv: [...process.execArgv, "--expose-gc"],
  });
  let complaints = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(-20_000);
  });
  let isAlive = true;
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once("exit", (code, signal) => {
      isAlive = false;
      resolve(signal ?? code);
    });
  });
  const ask = <T>(type: string): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const end = (): void => {
        child.off("message", take);
        reject(new Error(`${script} ended while it was asked for ${type}.`));
      };
      const take = (message: unknown): void => {
        const said = message as { readonly type: string };
        if (said.type !== type) return;
        child.off("message", take);
        child.off("exit", end);
        resolve(message as T);
      };
      child.on("message", take);
      child.once("exit", end);
      if (type !== "ready") child.send({ type }, () => {});
    });
  const timer = setTimeout(() => child.kill("SIGKILL"), readyMs);
  const { port } = await ask<{ readonly port: number }>("ready").catch((error: unknown) => {
    throw new Error(`${script} did not become ready.\n${complaints.slice(-2_000)}`, { cause: error });
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
