import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface RawExchange {
  readonly port: number;
  /** Sent as they are, one byte per character. */
  readonly bytes: string;
  /** What else happens on the connection, once the bytes were written. */
  readonly meanwhile?: (socket: Socket) => void;
}

/** Everything that comes back until the other side closes the connection. */
export async function rawExchange({ port, bytes, meanwhile }: RawExchange): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1" });
  let answer = "";
  socket.setEncoding("latin1");
  socket.on("data", (piece) => {
    answer += piece;
  });
  socket.on("error", () => {}); // A reset is a close.
  const closed = new Promise((resolve) => void socket.once("close", resolve));
  await once(socket, "connect");
  socket.write(bytes, "latin1");
  meanwhile?.(socket);
  await closed;
  return answer;
}

/** A request as text, with `Host: localhost` and `Connection: close` unless it names others. */
export function requestText(line: string, headers: { readonly [name: string]: string } = {}, body = ""): string {
  const sized = body === "" ? {} : { "Content-Length": String(Buffer.byteLength(body, "latin1")) };
  const all = { Host: "localhost", Connection: "close", ...sized, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

export const json: { readonly [name: string]: string } = { "Content-Type": "application/json" };

/** Writes the text a byte at a time, for as long as the other side lets it. */
export function drip(socket: Socket, byte: string): void {
  const timer = setInterval(() => void socket.write(byte), 5);
  socket.once("close", () => clearInterval(timer));
}

/** Writes the piece again and again, as fast as it is taken; reports how much that was. */
export function pour(socket: Socket, piece: string): () => number {
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece, "latin1"));
  };
  socket.on("drain", more);
  more();
  return () => socket.bytesWritten;
}
