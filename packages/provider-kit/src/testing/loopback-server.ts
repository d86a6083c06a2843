import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "@loopwright/core";

/** What a server on this machine was asked. */
export interface Asked {
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
}

/** A server on this machine for one test. */
export interface LoopbackServer extends AsyncDisposable {
  /** For example `http://127.0.0.1:40123`. */
  readonly origin: string;
  /** Oldest first. */
  readonly asked: readonly Asked[];
  /** TCP connections so far. */
  readonly connectionCount: number;
  /** Settles when a client has closed its connection. */
  readonly clientLeft: Promise<void>;
}

/** Starts a server that answers each JSON request by `answer`. `wireServer` is for bytes cut at precise places. */
export async function loopbackServer(answer: (response: ServerResponse, asked: Asked) => void): Promise<LoopbackServer> {
  const asked: Asked[] = [];
  let connectionCount = 0;
  const { promise: clientLeft, resolve: left } = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    request.on("end", () => {
      const each: Asked = { url: request.url ?? "", headers: request.headers, body: JSON.parse(text || "{}") as JsonObject };
      asked.push(each);
      answer(response, each);
    });
  });
  server.on("connection", (socket) => {
    connectionCount++;
    socket.once("close", () => left());
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    get connectionCount() {
      return connectionCount;
    },
    clientLeft,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
