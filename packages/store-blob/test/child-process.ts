import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A process that holds a store and appends to it until it is killed. */
export interface Child {
  readonly pid: number;
  /** The seq that it was told next; -1: the folder was refused. */
  next(): Promise<number>;
  kill(): Promise<void>;
}

export function startChild(folder: string): Child {
  const file = fileURLToPath(new URL("child-main.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@loopwright/source", file, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    pid: child.pid ?? 0,
    async next() {
      const { value, done } = await lines.next();
      if (done) throw new Error("The process has ended.");
      return Number(value);
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
