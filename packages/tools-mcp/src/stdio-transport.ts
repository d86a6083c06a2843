/*
 * Owns: a server that runs as a child process: its start, its messages, the end of all its processes, also when this process dies.
 * Does not own: the protocol (the SDK), what the server may be (mcp-server).
 *
 * I1 No shell reads the command. I2 It has the variables that it is given. I3 After `close` no process of its group is left.
 * I4 If this process dies, whatever ends it, its group is killed: a small shell waits for the end of a pipe. Not on Windows.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from "@modelcontextprotocol/client";

export interface StdioTransportOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly directory: string | undefined;
  readonly stderr: "ignore" | "inherit";
  /** Bytes of one message, and of everything that comes between two requests. */
  readonly bytesMax: number;
}

/** Milliseconds that a server gets to end by itself, after its input has ended and again after SIGTERM. */
const graceMs = 1_000;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioTransportOptions;
  readonly #buffer: ReadBuffer;
  #child: ChildProcess | undefined;
  #guard: ChildProcess | undefined;
  /** The beginning of a message, in pieces: it is put together once, so that a long one costs time in proportion to its length. */
  #pieces: Buffer[] = [];
  #piecesBytes = 0;
  #received = 0;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#buffer = new ReadBuffer({ maxBufferSize: options.bytesMax });
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    const { command, args, variables, directory, stderr } = this.#options;
    const child = spawn(command, args, {
      ...(directory === undefined ? {} : { cwd: directory }),
      env: variables,
      stdio: ["pipe", "pipe", stderr],
      detached: process.platform !== "win32",
      shell: false,
      windowsHide: true,
    });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    this.#guard = guardOf(child.pid);
    child.on("error", (error) => this.onerror?.(error));
    child.stdin?.on("error", (error) => this.onerror?.(error));
    child.stdout?.on("data", (chunk: Buffer) => this.#read(chunk));
    child.once("exit", () => this.#ended());
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) return Promise.reject(new Error("The process of the server has ended."));
    this.#received = 0;
    return new Promise((resolve) => {
      if (stdin.write(serializeMessage(message))) resolve();
      else stdin.once("drain", resolve).once("close", resolve);
    });
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null;
    const exit = new Promise<void>((resolve) => {
      if (hasExited()) resolve();
      else child.once("exit", () => resolve());
    });
    child.stdin?.end();
    if (!(await within(exit))) {
      kill(child.pid, "SIGTERM");
      await within(exit);
    }
    // Also what it left behind in its group.
    kill(child.pid, "SIGKILL");
    await exit;
  }

  #read(chunk: Buffer): void {
    this.#received += chunk.length;
    try {
      if (this.#received > this.#options.bytesMax) throw new Error("The server writes more than it may between two requests.");
      this.#pieces.push(chunk);
      this.#piecesBytes += chunk.length;
      if (this.#piecesBytes > this.#options.bytesMax) throw new Error("The server writes a message that is too long.");
      if (!chunk.includes("\n")) return;
      this.#piecesBytes = 0;
      this.#buffer.append(Buffer.concat(this.#pieces.splice(0)));
      for (let message = this.#buffer.readMessage(); message !== null; message = this.#buffer.readMessage()) this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      if (this.#child?.pid !== undefined) kill(this.#child.pid, "SIGKILL");
    }
  }

  #ended(): void {
    if (this.#child?.pid !== undefined) kill(this.#child.pid, "SIGKILL");
    this.#guard?.kill("SIGKILL");
    this.#buffer.clear();
    this.#pieces = [];
    this.onclose?.();
  }
}

/** Kills the group of the server when the pipe to this process ends. `undefined` where there is no shell. */
function guardOf(group: number | undefined): ChildProcess | undefined {
  if (group === undefined || process.platform === "win32") return undefined;
  const guard: ChildProcess = spawn("/bin/sh", ["-c", `read -r line; kill -KILL "-$1"`, "guard", String(group)], {
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guard.on("error", () => {});
  // Without file descriptors left there is no pipe, and `error` follows.
  guard.stdin?.on("error", () => {});
  guard.unref();
  return guard;
}

function kill(leader: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(process.platform === "win32" ? leader : -leader, signal);
  } catch {
    // It has ended.
  }
}

/** Whether the process ends within the time. */
function within(exit: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), graceMs);
    void exit.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
