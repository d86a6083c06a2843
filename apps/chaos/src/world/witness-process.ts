/* The witness of side effects: writes every start and end of a tool to a file of its own before it acknowledges. Knows nothing of logs. */
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";

const file = openSync(process.argv[2] ?? "", "a");
const server = createServer((socket) => {
  let text = "";
  socket.setNoDelay(true);
  socket.on("error", () => {});
  socket.on("data", (bytes) => {
    text += bytes.toString();
    const end = text.lastIndexOf("\n");
    if (end < 0) return;
    const lines = text.slice(0, end + 1);
    text = text.slice(end + 1);
    writeSync(file, lines);
    fdatasyncSync(file);
    socket.write("+".repeat(lines.split("\n").length - 1));
  });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, () =>
  process.send?.({ type: "ready", port: (server.address() as AddressInfo).port }),
);
process.on("disconnect", () => {
  closeSync(file);
  process.exit(0);
});
