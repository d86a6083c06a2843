import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** What a server was asked. */
export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A server on this machine for one test. */
export interface Loopback extends AsyncDisposable {
  readonly baseURL: string;
  readonly asked: readonly Asked[];
  /** Settles when a client has closed its connection. */
  readonly clientLeft: Promise<void>;
}

/** Starts a server that answers every request by `answer`. */
export async function loopback(answer: (response: ServerResponse, asked: Asked) => void): Promise<Loopback> {
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  let left = (): void => undefined;
  const clientLeft = new Promise<void>((resolve) => {
    left = resolve;
  });
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const call: Asked = { path: request.url ?? "", headers: request.headers, body: JSON.parse(Buffer.concat(parts).toString() || "{}") };
      asked.push(call);
      answer(response, call);
    });
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", left);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    clientLeft,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Events of a stream, each as JSON; a pair has a name. */
export function eventStream(events: readonly (object | string | readonly [name: string, data: object])[]): string {
  return events
    .map((event) => {
      if (typeof event === "string") return `data: ${event}\n\n`;
      if (Array.isArray(event)) return `event: ${event[0]}\ndata: ${JSON.stringify(event[1])}\n\n`;
      return `data: ${JSON.stringify(event)}\n\n`;
    })
    .join("");
}

/** Answers with a whole stream. */
export function streaming(...events: Parameters<typeof eventStream>[0]): (response: ServerResponse) => void {
  return (response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(eventStream(events));
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): (response: ServerResponse) => void {
  return (response) => void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
