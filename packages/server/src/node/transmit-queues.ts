/*
 * Owns: what the kernel has taken of each connection and the other side has not acknowledged.
 * Why: a write counts as movement for Node.js as soon as the kernel takes it, and it takes the pings of a stream whose other side is gone for a
 * quarter of an hour. Only Linux reports it; elsewhere it is unknown.
 */
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

/** Unacknowledged bytes of a connection; `undefined`: not known. */
export type TransmitQueues = (socket: Socket) => number | undefined;

const tables: readonly string[] = ["/proc/net/tcp", "/proc/net/tcp6"];

/** One reading of the tables of the kernel. `undefined` where there are none. */
export async function readTransmitQueues(): Promise<TransmitQueues | undefined> {
  const texts = await Promise.all(tables.map((path) => readFile(path, "latin1").catch(() => "")));
  return texts.every((text) => text === "") ? undefined : queuesIn(texts.join("\n"));
}

/** By ports alone: where two connections have the same, the one with less counts, so that none is taken for silent that is not. */
export function queuesIn(text: string): TransmitQueues {
  const bytes = new Map<string, number>();
  // `sl local_address rem_address st tx_queue:rx_queue ...`, all in hexadecimal digits.
  for (const [, local = "", remote = "", queue = ""] of text.matchAll(
    /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/gm,
  )) {
    const key = keyOf(Number.parseInt(local, 16), Number.parseInt(remote, 16));
    bytes.set(key, Math.min(bytes.get(key) ?? Number.POSITIVE_INFINITY, Number.parseInt(queue, 16)));
  }
  return ({ localPort = 0, remotePort = 0 }) => bytes.get(keyOf(localPort, remotePort));
}

const keyOf = (local: number, remote: number): string => `${local}:${remote}`;
