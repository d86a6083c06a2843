/*
 * Owns: what a workspace delivers to an app, over WebSockets. An envelope that is not acknowledged in time is delivered again, at most three times, as Slack does.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";

/** An envelope that the app has not acknowledged. */
export interface OpenEnvelope {
  readonly id: string;
  readonly type: string;
  readonly payload: object;
  readonly attempt: number;
}

/** The connections of an app. */
export interface FakeSocket {
  /** Where the next connection is to be made: it may be made once. */
  ticket(host: string): string;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  deliver(type: string, payload: object): void;
  /** Delivers again what was delivered last, acknowledged or not. */
  redeliver(): void;
  /** Slack asks the app to connect again. */
  refresh(): void;
  /** The connection breaks. */
  cut(): void;
  /** Until `false` is given, acknowledgements do not arrive. */
  loseAcks(isLost: boolean): void;
  readonly unacknowledged: readonly OpenEnvelope[];
  readonly connections: number;
  /** How many envelopes were delivered again. */
  readonly retries: number;
  close(): void;
}

const retriesMax = 3;

/** Envelopes on their way to an app. */
interface Post {
  readonly sockets: WebSocket[];
  readonly open: Map<string, OpenEnvelope & { readonly timer: NodeJS.Timeout | undefined }>;
  readonly retries: number;
  send(type: string, payload: object, attempt?: number): void;
  acknowledge(text: string): void;
  /** Sends what waited for a connection, and what was sent over another one. */
  resume(): void;
}

function postOf(ackMs: number): Post {
  const open: Post["open"] = new Map();
  const sockets: WebSocket[] = [];
  let [count, retries] = [0, 0];
  const send = (type: string, payload: object, attempt = 0): void => {
    const id = `envelope-${++count}`;
    const socket = sockets.at(-1);
    const again = (): void => {
      open.delete(id);
      if (attempt >= retriesMax) return;
      retries++;
      send(type, payload, attempt + 1);
    };
    // Without a connection it waits for one.
    open.set(id, { id, type, payload, attempt, timer: socket ? setTimeout(again, ackMs) : undefined });
    const reason = attempt > 0 ? { retry_attempt: attempt, retry_reason: "timeout" } : {};
    socket?.send(JSON.stringify({ envelope_id: id, type, payload, accepts_response_payload: false, ...reason }));
  };
  return {
    ...{ sockets, open, send },
    get retries() {
      return retries;
    },
    acknowledge(text) {
      const { envelope_id: id } = JSON.parse(text) as { readonly envelope_id?: string };
      const envelope = open.get(String(id));
      clearTimeout(envelope?.timer);
      open.delete(String(id));
    },
    resume() {
      const waiting = [...open.values()];
      open.clear();
      for (const { type, payload, attempt, timer } of waiting) {
        clearTimeout(timer);
        send(type, payload, attempt);
      }
    },
  };
}

/** The connections of an app, whose envelopes have to be acknowledged within `ackMs`. */
export function fakeSocket(ackMs: number): FakeSocket {
  const server = new WebSocketServer({ noServer: true });
  const tickets = new Set<string>();
  const post = postOf(ackMs);
  const { sockets, open } = post;
  let connections = 0;
  let isLost = false;
  let last: { readonly type: string; readonly payload: object } | undefined;
  const takeIn = (socket: WebSocket): void => {
    connections++;
    sockets.push(socket);
    socket.on("message", (data) => {
      if (!isLost) post.acknowledge(String(data));
    });
    socket.on("error", () => {});
    socket.on("close", () => sockets.splice(sockets.indexOf(socket), 1));
    socket.send(JSON.stringify({ type: "hello", num_connections: sockets.length, connection_info: { app_id: "A1" } }));
    post.resume();
  };
  return {
    ticket(host) {
      const ticket = `ticket-${tickets.size + connections + 1}`;
      tickets.add(ticket);
      return `ws://${host}/link/?ticket=${ticket}`;
    },
    upgrade(request, socket, head) {
      const ticket = new URL(request.url ?? "", "http://localhost").searchParams.get("ticket") ?? "";
      if (!tickets.delete(ticket)) socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
      else server.handleUpgrade(request, socket, head, takeIn);
    },
    deliver(type, payload) {
      last = { type, payload };
      post.send(type, payload);
    },
    redeliver() {
      if (last) post.send(last.type, last.payload, 1);
    },
    refresh: () => sockets.at(-1)?.send(JSON.stringify({ type: "disconnect", reason: "refresh_requested" })),
    cut: () => sockets.at(-1)?.terminate(),
    loseAcks(areLost) {
      isLost = areLost;
    },
    get unacknowledged() {
      return [...open.values()];
    },
    get connections() {
      return connections;
    },
    get retries() {
      return post.retries;
    },
    close() {
      for (const { timer } of open.values()) clearTimeout(timer);
      open.clear();
      for (const socket of [...sockets]) socket.terminate();
      server.close();
    },
  };
}
