import type { Socket } from "node:net";

/**
 * Cuts a connection with a reset. One whose end was sent is closed instead: Node.js 26 answers the reset of such a socket with `EINVAL` and never
 * closes its handle, and a worker thread that holds such a handle cannot be terminated.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
