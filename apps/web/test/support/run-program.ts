import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** With `LOOPWRIGHT_BUILT=1` the program runs from its build, which starts in less CPU time; else from its sources. */
const built = process.env["LOOPWRIGHT_BUILT"] === "1";
const main = fileURLToPath(new URL(built ? "../../../cli/dist/main.js" : "../../../cli/src/main.ts", import.meta.url));
const conditions = built ? [] : ["--conditions=@loopwright/source"];

/** `loopwright run` in a process of its own. */
export interface RunningProgram {
  readonly url: string;
  readonly port: number;
  /** As `kill -9`: without a message and without cleaning up. */
  kill(): Promise<void>;
}

export interface ProgramPlace {
  /** Default: any. */
  readonly port?: number;
  readonly store: string;
}

/** Starts the program with the offline model and waits until it listens. */
export async function runProgram({ port = 0, store }: ProgramPlace): Promise<RunningProgram> {
  const child: ChildProcess = spawn(
    process.execPath,
    [...conditions, main, "run", "--offline", "--json", "--port", String(port), "--store", store],
    { stdio: ["ignore", "pipe", "inherit"], env: withoutSettings() },
  );
  const ended = once(child, "exit");
  const lines = child.stdout ? createInterface({ input: child.stdout }) : [];
  for await (const line of lines) {
    const written: { readonly event?: string; readonly url?: string } = JSON.parse(line);
    if (written.url === undefined) continue;
    return {
      url: written.url,
      port: Number(new URL(written.url).port),
      async kill() {
        child.kill("SIGKILL");
        await ended;
      },
    };
  }
  throw new Error("The program ended before it listened.");
}

function withoutSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(LOOPWRIGHT|OPENAI|ANTHROPIC|GEMINI|OLLAMA)_/.test(name)));
}
