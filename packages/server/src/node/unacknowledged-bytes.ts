/*
 * Owns: the number of bytes of each connection that the kernel has accepted and the other side has not acknowledged.
 * Why: for Node.js a write is progress as soon as the kernel accepts it, and the kernel accepts the pings of a stream for a quarter of an hour after
 * the other side is gone. Only Linux reports the number; elsewhere it is unknown.
 */
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

/** Unacknowledged bytes of a connection; `undefined`: not known. */
export type TransmitQueues = (socket: Socket) => number | undefined;

const tables: readonly string[] = ["/proc/net/tcp", "/proc/net/tcp6"];

/** Reads the tables of the kernel once. `undefined` if there are none. */
export async function readTransmitQueues(): Promise<TransmitQueues | undefined> {
  const texts = await Promise.all(tables.map((path) => readFile(path, "latin1").catch(() => "")));
  return texts.every((text) => text === "") ? undefined : queuesIn(texts.join("\n"));
}

/** Identifies a connection by its ports alone. If two connections have the same ports, the smaller number counts, so that no active connection is cut. */
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
