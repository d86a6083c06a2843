import { type ClientClock, createClient, type LoopwrightClient } from "@loopwright/client";
import { onTestFinished } from "vitest";
import { type Running, start } from "./run-binary.ts";

export interface ServerOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** Default: any free one. */
  readonly port?: number;
  /** False: the model is that of the settings. Default true. */
  readonly isOffline?: boolean;
  /** Of the test, where tests run at the same time. Default: of the test that runs. */
  readonly onEnd?: (end: () => Promise<void>) => void;
}

/** A running `loopwright run`. */
export interface RunningServer extends Running {
  /** Without a slash at its end. */
  readonly url: string;
  readonly port: number;
  readonly client: LoopwrightClient;
}

/** Tries again ten times sooner than a client of the real world. */
const hasty: ClientClock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms / 10);
    return () => clearTimeout(timer);
  },
};

/** Starts the server with the offline model; resolves when it listens. It is killed when the test is over. */
export async function startServer({
  cwd,
  env = {},
  flags = [],
  port = 0,
  isOffline = true,
  onEnd = onTestFinished,
}: ServerOptions): Promise<RunningServer> {
  const running = start(["run", ...(isOffline ? ["--offline"] : []), "--port", `${port}`, ...flags], { cwd, env });
  onEnd(async () => {
    running.child.kill("SIGKILL");
    await running.ended;
  });
  await running.prints("Ctrl+C stops it");
  const url = / at (http:\S+)\n/.exec(await running.prints("\n"))?.[1] ?? "";
  return { ...running, url, port: Number(new URL(url).port), client: createClient({ url, clock: hasty }) };
}
