import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Listenable } from "../http/listenable.ts";
import { openNodeSink } from "./node-sink.ts";
import { badRequest } from "./refuse-client.ts";

/** Express and similar frameworks keep the whole path here, and remove the mount path from `url`. */
type MountedMessage = IncomingMessage & { readonly originalUrl?: string };

/**
 * The server as a request listener of `node:http`, for mounting in an application. It takes the address of a caller from the socket, and writes event
 * streams directly to the socket. Mount it before anything that reads bodies.
 */
export function requestListener(server: Listenable): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return listenerFor(server, false);
}

/** The same. `isExposed`: true if the operator has opened the server to other machines. */
export function listenerFor(server: Listenable, isExposed: boolean): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const listener = getRequestListener(
    (request, { incoming, outgoing }) =>
      server.fetch(request, {
        isExposed,
        localHost: localHostOf(incoming.socket),
        remoteAddress: incoming.socket.remoteAddress,
        openSink: openNodeSink(outgoing as ServerResponse),
      }),
    // The routes never reject, so this request could not be converted to a web-standard one.
    { overrideGlobalObjects: false, errorHandler: badRequest },
  );
  return (incoming, outgoing) => {
    // The body of a GET is not read, because waiting for it would block the connection.
    if (isBodyIgnored(incoming)) outgoing.shouldKeepAlive = false;
    const { originalUrl }: MountedMessage = incoming;
    if (server.basePath !== "" && originalUrl?.startsWith(server.basePath)) incoming.url = originalUrl;
    void listener(incoming, outgoing);
  };
}

function isBodyIgnored({ method, headers }: IncomingMessage): boolean {
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  return hasBody && (method === "GET" || method === "HEAD");
}

/** The numeric address of this side of the connection. Unlike a name, another site cannot make it point here. */
function localHostOf({ localAddress = "", localPort }: Socket): string {
  const address = localAddress.replace(/^::ffff:(?=\d)/, "");
  return `${address.includes(":") ? `[${address}]` : address}:${localPort}`;
}
