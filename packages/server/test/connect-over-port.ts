import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect as connectSocket, type Socket } from "node:net";
import type { Ask, Connect, Connection } from "./connection.ts";

/** Calls a server over a socket of its own for each request; a cut counts the raw bytes: head, chunk sizes and all. */
export function connectOverPort(url: string): Connect {
  const { hostname, port } = new URL(url);
  return (ask) =>
    new Promise((resolve) => {
      const socket = cuttingSocket({ host: hostname, port: Number(port) }, ask.cutAfter ?? Number.POSITIVE_INFINITY);
      const { path, method = "GET", headers = {}, body } = ask;
      const request = httpRequest({
        ...{ host: hostname, port, path, method },
        headers: { ...headersOf(ask), ...headers },
        createConnection: () => socket.socket,
      });
      request.once("response", (response) => resolve(connectionOf(response, socket)));
      request.on("error", () => resolve(undefined));
      request.on("close", () => resolve(undefined));
      request.end(body && JSON.stringify(body));
    });
}

const headersOf = ({ body }: Ask): { readonly [name: string]: string } => (body ? { "Content-Type": "application/json" } : {});

interface CuttingSocket {
  readonly socket: Socket;
  readonly wasCut: () => boolean;
}

/** A socket that is destroyed when so many bytes have come in. */
function cuttingSocket(to: { readonly host: string; readonly port: number }, cutAfter: number): CuttingSocket {
  const socket = connectSocket(to);
  let left = cutAfter;
  let wasCut = false;
  const push = socket.push.bind(socket);
  socket.push = (chunk: Uint8Array | null): boolean => {
    if (chunk === null || wasCut) return push(wasCut ? null : chunk);
    const part = chunk.byteLength > left ? chunk.subarray(0, left) : chunk;
    left -= part.byteLength;
    const hasRoom = part.byteLength === 0 || push(part);
    if (part.byteLength < chunk.byteLength) {
      wasCut = true;
      socket.destroy();
    }
    return hasRoom;
  };
  return { socket, wasCut: () => wasCut };
}

function connectionOf(response: IncomingMessage, { socket, wasCut }: CuttingSocket): Connection {
  const pieces = response[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const headers = Object.entries(response.headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  let isMine = false;
  return {
    status: response.statusCode ?? 0,
    headers: new Headers(headers),
    get wasCut() {
      return isMine || wasCut();
    },
    async read() {
      try {
        const { done, value } = await pieces.next();
        return done ? undefined : value;
      } catch {
        return undefined;
      }
    },
    async cut() {
      isMine = true;
      socket.destroy();
    },
  };
}
