import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type RestrictedStart, restrictedStart } from "@loopwright/simulator/node";

/** `npm test` has just built everything: a program starts faster from the builds of the packages it imports. */
const sources: readonly string[] = process.env["LOOPWRIGHT_BUILT"] === "1" ? [] : ["--conditions=@loopwright/source"];

const file = fileURLToPath(new URL("store-child.ts", import.meta.url));

/** A process that works on a store and prints one line of JSON for each thing it has done. */
export interface StoreProcess {
  readonly child: ChildProcess;
  /** The next line it prints; `undefined` after the last. */
  next(): Promise<unknown>;
  /** Ends it without a chance to tidy up, and waits until it is gone. */
  kill(): Promise<void>;
  /** Waits for its own end. */
  readonly ended: Promise<number | null>;
}

export interface StoreProcessOptions {
  /** Without the rights of root to pass over the modes of files. */
  readonly restricted?: RestrictedStart;
  /** No file that it writes may become larger, in blocks of 512 bytes: then its writes fail. */
  readonly fileBlocksMax?: number;
  /** On top of that of this process. */
  readonly environment?: { readonly [name: string]: string };
}

type Task = "append" | "as-told" | "claim" | "list" | "look" | "many" | "until-trouble";

/** How a store process obeys the modes of files, root or not; a sentence where none does. */
export const obeyingModes = (): RestrictedStart | string => restrictedStart([file, fileURLToPath(import.meta.resolve("@loopwright/core"))]);

/** Starts `store-child.ts` with what it shall do. */
export function startStoreProcess(task: Task, path: string, name: string, options: StoreProcessOptions = {}): StoreProcess {
  const { restricted = { prefix: [] }, fileBlocksMax, environment } = options;
  const command = [...restricted.prefix, process.execPath, ...sources, file, task, path, name];
  const limited = fileBlocksMax === undefined ? command : ["sh", "-c", `ulimit -f ${fileBlocksMax}; exec "$0" "$@"`, ...command];
  const [program = "", ...args] = limited;
  const child = spawn(program, args, {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...environment },
    ...(restricted.uid === undefined ? {} : { uid: restricted.uid }),
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  return {
    child,
    ended,
    async next() {
      const { value, done } = await lines.next();
      return done ? undefined : JSON.parse(value);
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
