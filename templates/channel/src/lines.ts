import type { Socket } from "node:net";

/** One line between a node and the hub: what it is, its topic, and the text of a message. */
export type Line = readonly [kind: "join" | "leave" | "send" | "joined" | "message", topic: string, text?: string];

/** Most characters of one line; a connection that sends more is closed. */
const lineCharsMax: number = 16 * 1024 * 1024;

/** Calls `take` with each line of JSON; a connection that sends something else is closed. */
export function eachLine(socket: Socket, take: (line: Line) => void): void {
  let pending = "";
  // Decodes across the borders of reads, so that no character is torn.
  socket.setEncoding("utf8");
  socket.on("data", (piece: string) => {
    let start = 0;
    for (let end = piece.indexOf("\n"); end !== -1; end = piece.indexOf("\n", start)) {
      const line = pending + piece.slice(start, end);
      pending = "";
      start = end + 1;
      try {
        take(JSON.parse(line) as Line);
      } catch {
        socket.destroy();
        return;
      }
    }
    pending += piece.slice(start);
    if (pending.length > lineCharsMax) socket.destroy();
  });
}
