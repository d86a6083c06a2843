import { connect, type Socket } from "node:net";
import { systemClock } from "@loopwright/core/memory";
import type { Clock } from "@loopwright/core/ports";
import type { Bus, BusListener } from "./bus.ts";
import { eachLine, type Line } from "./lines.ts";

export interface TcpBusOptions {
  /** Where the hub listens. */
  readonly port: number;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Default: the process's. */
  readonly clock?: Clock;
}

/** Most bytes that wait for a slow connection; what is sent beyond them is refused. */
export const waitingBytesMax: number = 8 * 1024 * 1024;
/** How long after a lost connection the next one is tried. */
const reconnectAfterMs = 200;

/** A connection to the hub that is made again whenever it is lost. */
export function tcpBus({ port, host = "127.0.0.1", clock = systemClock }: TcpBusOptions, listener: BusListener): Bus {
  const topics = new Set<string>();
  let socket: Socket | undefined;
  let isConnected = false;
  let isClosed = false;
  let cancel: (() => void) | undefined;

  const write = (line: Line): boolean => {
    if (!socket || !isConnected || socket.writableLength > waitingBytesMax) return false;
    socket.write(`${JSON.stringify(line)}\n`);
    return true;
  };

  const open = (): void => {
    if (isClosed) return;
    const own = connect(port, host);
    socket = own;
    own.setNoDelay(true);
    own.once("connect", () => {
      isConnected = true;
      for (const topic of topics) write(["join", topic]);
    });
    eachLine(own, ([kind, topic, text]) => {
      if (kind === "joined" && topics.has(topic)) listener.joined(topic);
      else if (kind === "message") listener.message(topic, text ?? "");
    });
    // `close` follows.
    own.on("error", () => {});
    own.once("close", () => {
      isConnected = false;
      if (isClosed) return;
      listener.disconnected();
      cancel = clock.after(reconnectAfterMs, open);
    });
  };
  open();

  return {
    send: (topic, text) => write(["send", topic, text]),
    join: (topic) => {
      topics.add(topic);
      write(["join", topic]);
    },
    leave: (topic) => {
      topics.delete(topic);
      write(["leave", topic]);
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      cancel?.();
      // What was sent before is still written.
      await new Promise<void>((closed) => {
        if (!socket || socket.destroyed || !isConnected) {
          socket?.destroy();
          closed();
        } else socket.once("close", () => closed()).destroySoon();
      });
    },
  };
}
