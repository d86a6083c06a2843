import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ProfileSummary } from "../profile-summary.ts";
import type { ServeSettings } from "./served.ts";

/** What the process of a server can be asked. */
export type Ask = "cpu" | "memory" | "profile" | "profiled";

export interface Memory {
  readonly rssBytes: number;
  /** Of JavaScript and of buffers. */
  readonly heapBytes: number;
  /** Largest resident set so far. */
  readonly peakMb: number;
}

/** A server in a process of its own, and what it states of itself. */
export interface MeasuredServer {
  readonly url: string;
  /** CPU of all threads so far, in microseconds. */
  cpuUs(): Promise<number>;
  memory(): Promise<Memory>;
  startProfile(): Promise<void>;
  stopProfile(): Promise<ProfileSummary>;
  close(): void;
}

/** Runs the measured part and gives the CPU that the server spent on it, in microseconds. */
export type Around = (part: () => Promise<void>) => Promise<number>;

/** Longest the process may take for an answer. */
const answerMs = 30_000;

/** @throws Error when the process ends before it listens. */
export async function startMeasuredServer(name: string, settings: ServeSettings = {}): Promise<MeasuredServer> {
  const child = fork(fileURLToPath(new URL("server-process.ts", import.meta.url)), [name, JSON.stringify(settings)], {
    execArgv: ["--no-warnings", "--expose-gc"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const answer = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      const settle = (action: () => void): void => {
        clearTimeout(timer);
        child.off("exit", ended);
        action();
      };
      const ended = (code: number | null): void => settle(() => reject(new Error(`The ${name} server ended with ${code}.`)));
      const timer = setTimeout(() => settle(() => reject(new Error(`The ${name} server does not answer.`))), answerMs);
      child.once("exit", ended);
      child.once("message", (message) => settle(() => resolve((message as { readonly value: T }).value)));
    });
  const ask = <T>(what: Ask): Promise<T> => {
    const answered = answer<T>();
    child.send(what);
    return answered;
  };
  return {
    url: await answer<string>(),
    async cpuUs() {
      const { user, system } = await ask<NodeJS.CpuUsage>("cpu");
      return user + system;
    },
    memory: () => ask("memory"),
    startProfile: () => ask("profile"),
    stopProfile: () => ask("profiled"),
    close: () => child.disconnect(),
  };
}
