import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runTool, type ToolTrial, type ToolTrialOptions } from "@loopwright/testing";
import { onTestFinished } from "vitest";
import { cliTool } from "../src/cli-execute.ts";
import { cliSettings } from "../src/cli-settings.ts";
import type { CliProgram, CliToolOptions, Isolation } from "../src/index.ts";

/** Kept where no child may find it. */
export const canary = "sk-CANARY-5f0c1f6e";

export interface Scratch {
  /** The working directory. */
  readonly root: string;
  /** A folder beside it, with `secret.txt` in it. */
  readonly outside: string;
  /** An executable of Node.js outside of the working directory. Its name is the name of the program. */
  script(name: string, source: string): Promise<string>;
  /** Runs a program of the list. */
  run(program: Omit<CliProgram, "name"> & { readonly name?: string }, args?: readonly string[], options?: RunOptions): Promise<ToolTrial>;
}

type RunOptions = ToolTrialOptions & Omit<CliToolOptions, "programs" | "directory">;

/** What systems have that are not Linux, and containers that refuse namespaces. */
export const noIsolation: Isolation = { namespaces: false, resourceLimits: false };

/** A working directory of this test alone, with a secret beside it; gone when the test ends. Without `isolation` that of the system. */
export async function makeScratch(forced?: Isolation): Promise<Scratch> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "loopwright-cli-")));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const [root, outside, bin] = [join(base, "files"), join(base, "files-evil"), join(base, "bin")];
  await Promise.all([root, outside, bin].map((folder) => mkdir(folder)));
  await writeFile(join(outside, "secret.txt"), canary);
  return {
    root,
    outside,
    async script(name, source) {
      const path = join(bin, name);
      await writeFile(path, `#!${process.execPath}\n${source}`);
      await chmod(path, 0o755);
      return path;
    },
    run(program, args = [], { limits, isolation, environment, ...options } = {}) {
      const tool = cliTool(
        {
          ...cliSettings({
            programs: [{ name: "program", ...program }],
            directory: root,
            ...(limits ? { limits } : {}),
            ...(isolation ? { isolation } : {}),
            ...(environment ? { environment } : {}),
          }),
          ...(forced ? { isolation: () => Promise.resolve(forced) } : {}),
        },
        {},
      );
      return runTool(tool, { program: program.name ?? "program", args: [...args] }, options);
    },
  };
}

/** How many processes of this machine have the text in their command line. */
export async function processesWith(text: string): Promise<number> {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(names.map((name) => readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "")));
  return lines.filter((line) => line.includes(text)).length;
}
