import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findProgram } from "./find-program.ts";
import { freePort } from "./free-port.ts";
import { askRedis } from "./redis-command.ts";

export interface RedisOptions {
  /** More arguments, after the defaults and therefore above them: `["--appendfsync", "always"]`. */
  readonly args?: readonly string[];
  /** Where its files are. Default: a folder of its own that goes away with `stop`. */
  readonly dir?: string;
}

/** A redis-server of one's own on 127.0.0.1, to be hurt. Ended with this process at the latest. */
export interface RedisProcess {
  readonly host: string;
  /** The same after every restart. */
  readonly port: number;
  readonly url: string;
  readonly dir: string;
  /** `undefined` while it is not running. */
  readonly pid: number | undefined;
  /** Ends it without a chance to tidy up (SIGKILL), and waits until it is gone. */
  kill(): Promise<void>;
  /** Starts it again on the same folder and port, after `kill` where it still runs; with other arguments where they are given. */
  restart(options?: { readonly args?: readonly string[] }): Promise<void>;
  /** Pauses it (SIGSTOP): connections stay open and get no replies. */
  pause(): void;
  /** Resumes it (SIGCONT). */
  resume(): void;
  /** One command over a connection of its own: `command("CLIENT", "KILL", "TYPE", "pubsub")`. The reply as the protocol's text; an error reply rejects. */
  command(...words: readonly string[]): Promise<string>;
  /** Ends it for good and removes the folder that it made. Twice is once. */
  stop(): Promise<void>;
}

/** Durable within a second, never evicting, nothing written on the way out: what a store asks for. */
const defaults = ["--appendonly", "yes", "--appendfsync", "everysec", "--maxmemory-policy", "noeviction", "--save", ""];
const startTries = 5;

/** `LOOPWRIGHT_REDIS_SERVER` names one that is not in the `PATH`. */
const redisServer = (): string | undefined => findProgram(process.env["LOOPWRIGHT_REDIS_SERVER"] || "redis-server");

/** Why no redis-server can be started here, as a sentence; `undefined` where one can. For suites that skip with a reason. */
export function redisMissing(): string | undefined {
  return redisServer() ? undefined : "no redis-server is installed (Debian: apt-get install redis-server)";
}

/** A redis-server that answers. Rejects with a plain reason where none is installed or it does not start. */
export async function startRedis(options?: RedisOptions): Promise<RedisProcess> {
  const missing = redisMissing();
  const program = redisServer();
  if (!program) throw new Error(missing);
  const dir = options?.dir ?? mkdtempSync(join(tmpdir(), "loopwright-redis-"));
  for (let attempt = 1; ; attempt++) {
    const server = new OwnRedis({ program, dir, ownsDir: options?.dir === undefined, port: await freePort(), args: options?.args ?? [] });
    try {
      await server.restart();
      return server;
    } catch (error) {
      // Another process may have taken the port between the check and the start.
      if (attempt < startTries && error instanceof Error && error.message.includes("in use")) continue;
      await server.stop();
      throw error;
    }
  }
}

interface Place {
  readonly program: string;
  readonly dir: string;
  readonly ownsDir: boolean;
  readonly port: number;
  readonly args: readonly string[];
}

class OwnRedis implements RedisProcess {
  readonly host = "127.0.0.1";
  readonly port: number;
  readonly dir: string;
  readonly #place: Place;
  #args: readonly string[];
  #child: ChildProcess | undefined;
  readonly #endWithProcess = (): void => {
    this.#child?.kill("SIGKILL");
  };

  constructor(place: Place) {
    this.#place = place;
    this.port = place.port;
    this.dir = place.dir;
    this.#args = place.args;
    process.once("exit", this.#endWithProcess);
  }

  get url(): string {
    return `redis://${this.host}:${this.port}`;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async restart(options?: { readonly args?: readonly string[] }): Promise<void> {
    await this.kill();
    this.#args = options?.args ?? this.#args;
    const { program, dir, port } = this.#place;
    const place = ["--port", String(port), "--bind", this.host, "--dir", dir, "--daemonize", "no", "--logfile", ""];
    const child = spawn(program, [...place, ...defaults, ...this.#args], { stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    hurry(child);
    child.once("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    await readiness(child);
  }

  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  command(...words: readonly string[]): Promise<string> {
    return askRedis(this.port, words);
  }

  async stop(): Promise<void> {
    process.removeListener("exit", this.#endWithProcess);
    await this.#end("SIGKILL");
    if (this.#place.ownsDir) rmSync(this.dir, { recursive: true, force: true });
  }

  async #end(signal: "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
    this.#child = undefined;
  }
}

/**
 * Has the system prefer the server where it may (as root, or with the right to): what is tested is a Redis that is well, also on a machine that is busy
 * with other tests.
 */
function hurry({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, -14);
  } catch {
    // It keeps the priority of this process.
  }
}

/** Waits until the server reports that it accepts connections. Otherwise rejects with its output as the reason. */
function readiness(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const written: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      if (stream)
        createInterface({ input: stream }).on("line", (line) => {
          // The output is read until the process ends, so that a full pipe never blocks it; it is kept only until the server is ready.
          if (written.length < 50) written.push(line);
          if (/ready to accept connections/i.test(line)) resolve();
        });
    child.once("error", (error) => reject(new Error(`redis-server cannot be started: ${error.message}`)));
    child.once("exit", () => reject(new Error(`redis-server ended at its start: ${written.slice(-5).join(" | ")}`)));
  });
}
