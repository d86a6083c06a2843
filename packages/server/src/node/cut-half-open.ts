import type { Server } from "node:http";
import type { Socket } from "node:net";
import { readTransmitQueues } from "./transmit-queues.ts";

/** How far a connection has come. */
interface Progress {
  /** Bytes that the other side has acknowledged. */
  readonly acknowledged: number;
  /** When that was last seen to be more, or nothing was waiting. */
  readonly movedAt: number;
  /** How often it was looked at since. */
  readonly looks: number;
}

/** Looks in the time after which a connection is silent. */
const looksPerSilence = 12;
/** Looks that must have found no movement: a process that stood still itself has looked less often. */
const looksMin = 6;

/**
 * Cuts connections of which the other side acknowledges nothing for so long, though something was sent: it is gone, or reads nothing. Bytes that
 * only the kernel has taken, as the pings of a stream, are no movement. Ends with the server.
 */
export function cutHalfOpen(http: Server, silentMs: number): void {
  const progress = new Map<Socket, Progress>();
  http.on("connection", (socket) => {
    progress.set(socket, { acknowledged: 0, movedAt: performance.now(), looks: 0 });
    socket.once("close", () => progress.delete(socket));
  });
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking || progress.size === 0) return;
    isLooking = true;
    const unacknowledged = await readTransmitQueues();
    isLooking = false;
    if (!unacknowledged) return clearInterval(timer);
    const now = performance.now();
    for (const [socket, before] of progress) {
      const queued = unacknowledged(socket) ?? 0;
      const acknowledged = socket.bytesWritten - socket.writableLength - queued;
      const isMoving = queued === 0 || acknowledged > before.acknowledged;
      const looks = before.looks + 1;
      if (isMoving) progress.set(socket, { acknowledged, movedAt: now, looks: 0 });
      else if (now - before.movedAt >= silentMs && looks >= looksMin) socket.destroy();
      else progress.set(socket, { ...before, looks });
    }
  };
  const timer = setInterval(() => void look(), silentMs / looksPerSilence);
  timer.unref();
  http.once("close", () => clearInterval(timer));
}
