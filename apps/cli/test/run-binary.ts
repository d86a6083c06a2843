import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RestrictedStart } from "@loopwright/simulator/node";

/** `npm test` has just built everything: a program starts in half the time from its builds, and these are what users get. */
const isBuilt = process.env["LOOPWRIGHT_BUILT"] === "1";
const sources: readonly string[] = isBuilt ? [] : ["--conditions=@loopwright/source"];

export const main: string = fileURLToPath(new URL(isBuilt ? "../dist/main.js" : "../src/main.ts", import.meta.url));
const each: string = fileURLToPath(new URL("run-each.ts", import.meta.url));

/** Compiled code of the sources, kept for the next process: a third of what a start costs. */
const compileCache = process.env["NODE_COMPILE_CACHE"] ?? join(tmpdir(), `loopwright-compile-cache-${process.getuid?.() ?? ""}`);

/** How a process ended and what it printed. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What is piped in; default: nothing, as from /dev/null. */
  readonly input?: string;
  /** Without the rights of root to pass over the modes of files. */
  readonly restricted?: RestrictedStart;
  /** The module that is started; default: the command line. */
  readonly module?: string;
}

/** A running command line. */
export interface Running {
  readonly child: ChildProcess;
  /** Resolves with all of standard output so far as soon as it holds the text. Rejects when the process ends without it. */
  prints(text: string): Promise<string>;
  readonly ended: Promise<Ended>;
}

/** An empty working directory. */
export function emptyDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), "loopwright-cli-"));
}

/** How the command line is started: with an empty environment and the offline model in no hurry. */
export function commandLine(
  words: readonly string[],
  { cwd, env = {}, restricted = { prefix: [] }, module = main }: Omit<RunOptions, "input">,
): { readonly program: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> } {
  const [program = "", ...args] = [...restricted.prefix, process.execPath, ...sources, "--no-warnings", module, ...words];
  return {
    program,
    args,
    env: { PATH: process.env["PATH"] ?? "", NODE_COMPILE_CACHE: compileCache, LOOPWRIGHT_OFFLINE_PACE: "0", HOME: cwd, ...env },
  };
}

/** Starts the command line so, without pauses. */
export function start(words: readonly string[], { input, ...options }: RunOptions): Running {
  const { program, args, env } = commandLine(words, options);
  const child = spawn(program, args, {
    cwd: options.cwd,
    ...(options.restricted?.uid === undefined ? {} : { uid: options.restricted.uid }),
    env,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  const watchers = new Set<() => void>();
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    for (const watcher of watchers) watcher();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  if (input !== undefined) child.stdin?.end(input);
  const ended = new Promise<Ended>((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
  const prints = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!stdout.includes(text)) return;
        watchers.delete(look);
        resolve(stdout);
      };
      watchers.add(look);
      void ended.then(() => reject(new Error(`It ended without saying ${text}:\n${stdout}\n${stderr}`)));
      look();
    });
  return { child, prints, ended };
}

/** Runs the command line to its end. */
export function run(words: readonly string[], options: RunOptions): Promise<Ended> {
  return start(words, options).ended;
}

/** Runs command lines one after another in one process of their own, where each by itself would cost a start; for those that end by themselves. */
export async function runEach(
  lines: readonly { readonly words: readonly string[]; readonly env?: Readonly<Record<string, string>> }[],
  options: Pick<RunOptions, "cwd" | "env">,
): Promise<readonly Ended[]> {
  const { stdout, stderr } = await start([JSON.stringify(lines)], { ...options, module: each }).ended;
  if (stdout === "") throw new Error(`The command lines were not run to their end:\n${stderr}`);
  return JSON.parse(stdout) as readonly Ended[];
}

/** The same for lines without an environment of their own. */
export const runAll = (lines: readonly (readonly string[])[], options: Pick<RunOptions, "cwd" | "env">): Promise<readonly Ended[]> =>
  runEach(
    lines.map((words) => ({ words })),
    options,
  );
