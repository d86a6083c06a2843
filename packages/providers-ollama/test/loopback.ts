import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "@loopwright/core";

/** What a server on this machine was asked. */
export interface Asked {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
}

export interface Loopback extends AsyncDisposable {
  readonly baseURL: string;
  readonly asked: readonly Asked[];
  /** TCP connections so far. */
  readonly connectionCount: number;
}

/** A server that answers each request as told. */
export async function loopback(answer: (response: ServerResponse, asked: Asked) => void): Promise<Loopback> {
  const asked: Asked[] = [];
  let connectionCount = 0;
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    request.on("end", () => {
      const each: Asked = { url: request.url ?? "", headers: request.headers, body: JSON.parse(text) };
      asked.push(each);
      answer(response, each);
    });
  });
  server.on("connection", () => {
    connectionCount++;
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}`,
    asked,
    get connectionCount() {
      return connectionCount;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
