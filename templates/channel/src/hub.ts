import { createServer, type Socket } from "node:net";
import { eachLine, type Line } from "./lines.ts";
import { waitingBytesMax } from "./tcp-bus.ts";

export interface Hub {
  readonly port: number;
  close(): Promise<void>;
}

export interface HubOptions {
  /** Default: any free one. */
  readonly port?: number;
  /** Default `127.0.0.1`. The hub asks for no password: keep it on a network of your own. */
  readonly host?: string;
}

/** Starts the process that passes messages on between nodes. It keeps nothing: a node that is away misses what is sent. */
export async function startHub({ port = 0, host = "127.0.0.1" }: HubOptions = {}): Promise<Hub> {
  const nodes = new Map<Socket, Set<string>>();
  const write = (socket: Socket, line: Line): void => {
    // A node that reads too slowly is cut off. It connects again, and its listeners get a `gap`.
    if (socket.writableLength > waitingBytesMax) socket.destroy();
    else socket.write(`${JSON.stringify(line)}\n`);
  };
  const server = createServer((socket) => {
    const joined = new Set<string>();
    nodes.set(socket, joined);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.once("close", () => nodes.delete(socket));
    eachLine(socket, ([kind, topic, text]) => {
      if (kind === "join") {
        joined.add(topic);
        write(socket, ["joined", topic]);
      } else if (kind === "leave") joined.delete(topic);
      else if (kind === "send")
        for (const [other, topics] of nodes) if (other !== socket && topics.has(topic)) write(other, ["message", topic, text ?? ""]);
    });
  });
  await new Promise<void>((listening) => server.listen(port, host, listening));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : port,
    close: async () => {
      for (const socket of nodes.keys()) socket.destroy();
      await new Promise<void>((closed) => server.close(() => closed()));
    },
  };
}
