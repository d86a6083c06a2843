import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Listening } from "../src/node/listen.ts";

/** A port before a server whose streams are web streams, as on any runtime but Node.js. */
export async function listenWithWebStreams({ fetch }: { readonly fetch: (request: Request) => Promise<Response> }): Promise<Listening> {
  const http = createHttpServer(getRequestListener((request) => fetch(request), { overrideGlobalObjects: false }));
  await new Promise<void>((resolve) => void http.listen({ host: "127.0.0.1", port: 0 }, resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => void http.close(resolve));
    },
  };
}
