import type { Server } from "node:http";
import type { Socket } from "node:net";
import { readTransmitQueues } from "./unacknowledged-bytes.ts";

/** The progress of a connection. */
interface Progress {
  /** Bytes that the other side has acknowledged. */
  readonly acknowledged: number;
  /** The last time at which this number had grown, or no bytes were waiting. */
  readonly movedAt: number;
  /** The number of checks since that time. */
  readonly looks: number;
}

/** The number of checks within the time after which a connection counts as silent. */
const looksPerSilence = 12;
/** The number of checks without progress before a connection is cut. A process that was paused itself has made fewer checks. */
const looksMin = 6;

/**
 * Cuts connections whose other side has acknowledged no bytes for `silentMs`, although bytes were sent: it is gone, or does not read. Bytes in the
 * kernel's buffers, such as the pings of a stream, do not count as progress. The checks end with the server.
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
