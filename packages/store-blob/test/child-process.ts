import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** `npm test` has just built everything: a program starts faster from the builds of the packages it imports. */
const sources: readonly string[] = process.env["LOOPWRIGHT_BUILT"] === "1" ? [] : ["--conditions=@loopwright/source"];

/** A process that holds a store and appends to it until it is killed. */
export interface Child {
  readonly pid: number;
  /** The seq that it printed next; -1: the folder was refused. */
  next(): Promise<number>;
  /** With SIGKILL. */
  kill(): Promise<void>;
  /** Stops it where it is, as the freezer of a container does, until `resume`. */
  pause(): void;
  resume(): void;
}

export interface ChildOptions {
  readonly leaseMs?: number;
  /** In a pid namespace of its own, as a container is. */
  readonly isContainer?: boolean;
}

/** A process that is killed with its parent, has a pid namespace of its own and sees the processes of that one only. */
const container = ["unshare", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc"];
/** The same for a user other than root, where the system allows it. */
const userContainer = [...container, "--user", "--map-root-user"];
const found = [container, userContainer].find(([command = "", ...rest]) => spawnSync(command, [...rest, "true"]).status === 0);

/** Why there are no pid namespaces here; `undefined` where there are. */
export const noContainers: string | undefined = found ? undefined : "`unshare --pid` is not allowed or not there";

export function startChild(folder: string, { leaseMs = 15_000, isContainer = false }: ChildOptions = {}): Child {
  const file = fileURLToPath(new URL("child-main.ts", import.meta.url));
  const main = [process.execPath, ...sources, file, folder, String(leaseMs)];
  const [command = "", ...rest] = [...(isContainer ? (found ?? []) : []), ...main];
  const child = spawn(command, rest, { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const pid = child.pid ?? 0;
  // Closed when every process that could write to it is gone: the one in the container, too.
  const closed = new Promise<void>((resolve) => child.stdout.once("close", () => resolve()));
  // A process that ends closes its files before it counts as ended.
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  /** The one that holds the store, as this process numbers it. */
  const inner = (): number => (isContainer ? Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim()) : pid);
  return {
    pid,
    async next() {
      const { value, done } = await lines.next();
      if (done) throw new Error("The process has ended.");
      return Number(value);
    },
    async kill() {
      child.stdout.resume();
      child.kill("SIGKILL");
      await Promise.all([closed, exited]);
    },
    pause: () => void process.kill(inner(), "SIGSTOP"),
    resume: () => void process.kill(inner(), "SIGCONT"),
  };
}
