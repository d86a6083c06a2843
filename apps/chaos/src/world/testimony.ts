import { connect, type Socket } from "node:net";

/** One record of the witness. */
export interface Testimony {
  readonly phase: "start" | "end";
  readonly tool: string;
  readonly session: string;
  readonly callKey: string;
  readonly attempt: number;
  readonly node: string;
}

/** Reports to the witness, and resolves when it is recorded. */
export type Testify = (testimony: Testimony) => Promise<void>;

export function connectWitness(port: number): Testify {
  const waiting: { resolve(): void; reject(error: Error): void }[] = [];
  let socket: Socket | undefined;
  const open = (): Socket => {
    const fresh = connect({ port, host: "127.0.0.1" });
    fresh.setNoDelay(true);
    fresh.on("data", (bytes) => {
      for (let count = bytes.length; count > 0; count--) waiting.shift()?.resolve();
    });
    fresh.on("close", () => {
      socket = undefined;
      for (const one of waiting.splice(0)) one.reject(new Error("The witness is gone."));
    });
    fresh.on("error", () => {});
    fresh.unref();
    return fresh;
  };
  return (testimony) =>
    new Promise<void>((resolve, reject) => {
      socket ??= open();
      waiting.push({ resolve, reject });
      socket.write(`${JSON.stringify(testimony)}\n`);
    });
}

/** The records in the file of the witness. An incomplete last line is skipped, because it was never acknowledged. */
export function readTestimonies(text: string): readonly Testimony[] {
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Testimony);
}
