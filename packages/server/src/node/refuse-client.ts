/*
 * Owns: the answers to requests that never reach the routes, because they are not valid HTTP, too large or too slow.
 * They carry the same headers as every answer.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { refusalHeaders } from "../http/response-headers.ts";

const statuses: { readonly [code: string]: number } = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Answers the event `clientError`. */
export function refuseClient(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable || hasAnswer(socket)) {
    socket.destroy();
    return;
  }
  const status = statuses[error.code ?? ""] ?? 400;
  const headers = { ...refusalHeaders(crypto.randomUUID()), Date: new Date().toUTCString(), Connection: "close", "Content-Length": "0" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("\r\n")}\r\n\r\n`);
}

/** Answers the event `checkExpectation`: only `100-continue` is supported. */
export function refuseExpectation(_: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.writeHead(417, { ...refusalHeaders(crypto.randomUUID()), Connection: "close", "Content-Length": "0" }).end();
}

/** The response to a request that cannot be converted to a web-standard one, for example because of an invalid `Host`. */
export function badRequest(): Response {
  return new Response(null, { status: 400, headers: { ...refusalHeaders(crypto.randomUUID()), Connection: "close" } });
}

/** True if an answer has begun on this socket: a second head would be read as its content. */
function hasAnswer(socket: Socket & { _httpMessage?: { readonly headersSent: boolean } | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}
