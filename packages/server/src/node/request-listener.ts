import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Listenable } from "../http/listenable.ts";
import { openNodeSink } from "./node-sink.ts";
import { badRequest } from "./refuse-client.ts";

/** Express and its like keep the whole path here where they take off the part that they mounted at. */
type MountedMessage = IncomingMessage & { readonly originalUrl?: string };

/**
 * The server as a request listener of `node:http`, to be mounted in an application: it takes the address of a caller from its socket, and event
 * streams go straight to it. Mount it before anything that reads bodies.
 */
export function requestListener(server: Listenable): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return listenerFor(server, false);
}

/** The same for a server whose operator has opened it to others, or has not. */
export function listenerFor(server: Listenable, isExposed: boolean): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const listener = getRequestListener(
    (request, { incoming, outgoing }) =>
      server.fetch(request, {
        isExposed,
        localHost: localHostOf(incoming.socket),
        remoteAddress: incoming.socket.remoteAddress,
        openSink: openNodeSink(outgoing as ServerResponse),
      }),
    // The routes never reject: what comes here could not be made a request.
    { overrideGlobalObjects: false, errorHandler: badRequest },
  );
  return (incoming, outgoing) => {
    // The body of a GET is not read: waiting for it would hold the connection.
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

/** The address that the connection was made to. A name could be made to point here; a number cannot. */
function localHostOf({ localAddress = "", localPort }: Socket): string {
  const address = localAddress.replace(/^::ffff:(?=\d)/, "");
  return `${address.includes(":") ? `[${address}]` : address}:${localPort}`;
}
