/*
 * Owns: the fate of one request from a process to the world: when it arrives, when it is answered and with what, and which fault hits it.
 */
import type { NodeOptions, PortCall, SimulatedNode } from "./simulated-node.ts";

/** A new promise each time: a shared one would keep every caller that waits for it in memory. */
const never = (): Promise<never> => new Promise(() => {});

/** What the world answers; nothing, once the process is dead. */
export function askWorld<T>({ time, trace, fateOf }: NodeOptions, node: SimulatedNode, call: PortCall<T>): Promise<T> {
  if (node.state === "dead") return never();
  const place = (node.asked as string[]).push(call.kind);
  const note = (line: string): void => trace.add(time.nowMs, `${node.name} ${call.kind} ${call.detail ?? ""} ${line}`);
  const fate = fateOf({ node, kind: call.kind, place });
  if (fate.dies === "before") {
    node.crash(`before ${call.kind} (${place})`);
    return never();
  }
  return new Promise<T>((resolve, reject) => {
    const answer = (afterMs: number, settle: () => void): void => void time.schedule(afterMs, () => node.enter(settle));
    const sayLost = (afterMs: number): void =>
      answer(afterMs, () => {
        note("has no answer");
        try {
          resolve(call.lost());
        } catch (error) {
          reject(error as Error);
        }
      });
    if (fate.lost === "late") sayLost(fate.deadlineMs ?? 2_000);
    const arrive = async (): Promise<void> => {
      if (call.isAway?.()) return fate.lost === "late" ? undefined : sayLost(fate.deadlineMs ?? 2_000);
      if (fate.lost === "request") return sayLost(fate.deadlineMs ?? 0);
      const first = await settled(call.run());
      const outcome = fate.isDoubled ? await settled(call.run()) : first;
      note(outcome.written);
      if (fate.dies === "after") return node.crash(`after ${call.kind} (${place})`);
      if (fate.pausesMs !== undefined) node.pause(fate.pausesMs);
      if (fate.isTerminated) node.terminate();
      if (fate.lost === "late") return;
      if (fate.lost === "answer") return sayLost(fate.deadlineMs ?? 0);
      answer(fate.answerMs, () => ("value" in outcome ? resolve(outcome.value) : reject(outcome.error)));
    };
    time.schedule(fate.requestMs, () => void arrive());
  });
}

type Settled<T> = { readonly written: string } & ({ readonly value: T } | { readonly error: Error });

async function settled<T>(work: Promise<T>): Promise<Settled<T>> {
  try {
    const value = await work;
    const written = typeof value === "object" && value !== null && "type" in value ? String(value.type) : "done";
    return { written, value };
  } catch (error) {
    return { written: "failed", error: error as Error };
  }
}
