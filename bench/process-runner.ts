import { type ChildProcess, fork, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Longest a process may take before it counts as hung. */
const processMs = 120_000;

export interface ModelServer {
  readonly url: string;
  close(): void;
}

/** A model server in a process of its own. */
export async function startServer(): Promise<ModelServer> {
  const child: ChildProcess = fork(fileOf("server/model-server.ts"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const url = await new Promise<string>((resolve, reject) => {
    child.once("message", (message) => resolve((message as { readonly url: string }).url));
    child.once("exit", (code) => reject(new Error(`The model server ended with ${code}.`)));
  });
  return { url, close: () => child.disconnect() };
}

/** What a script prints as JSON. @throws Error when it ends with anything but 0 or takes over two minutes. */
export async function runProcess<T>(script: string, args: readonly string[] = []): Promise<T> {
  const child = spawn(process.execPath, ["--no-warnings", fileOf(script), ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let complaint = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint += text;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), processMs);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${script} ${args.join(" ")} ended with ${code ?? "a signal"}.\n${complaint.trim().slice(-2000)}`);
  return JSON.parse(output) as T;
}
