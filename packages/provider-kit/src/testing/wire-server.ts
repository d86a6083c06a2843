import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { WireRequest } from "@loopwright/testing";

/** What the server does with the body of an answer, step by step. Each piece is a write of its own. */
export type WireStep =
  | { readonly type: "write"; readonly bytes: Uint8Array }
  /** The same bytes again and again, as fast as the client reads. */
  | { readonly type: "flood"; readonly piece: Uint8Array; readonly count: number }
  /** Nothing more until `release` or until the client goes away. */
  | { readonly type: "hold" }
  /** Behind the body, which must be sent in chunks, so without a content length. */
  | { readonly type: "trailers"; readonly trailers: Readonly<Record<string, string>> }
  /** The connection is destroyed, after what was written has left. */
  | { readonly type: "cut" };

/** What a request is answered with. */
export type WireResponse =
  | {
      readonly type: "answer";
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly steps: readonly WireStep[];
    }
  /** The connection dies before the headers. */
  | { readonly type: "drop" }
  /** No headers until the client goes away. */
  | { readonly type: "silence" };

/** A small HTTP server on the loopback interface that controls every byte it sends. */
export interface WireServer {
  /** For example `http://127.0.0.1:40123`. */
  readonly origin: string;
  /** Oldest first. */
  readonly requests: readonly WireRequest[];
  /** Answers that the client left before they were complete. */
  readonly hangUps: () => number;
  /** True once an answer has come to a `hold` or a `silence`. */
  readonly isSilent: () => boolean;
  /** Continues every answer that is on hold. */
  readonly release: () => void;
  readonly close: () => Promise<void>;
}

/** Starts a server that answers every request with the result of `respond`. The caller closes it. */
export async function wireServer(respond: (request: WireRequest) => WireResponse): Promise<WireServer> {
  const requests: WireRequest[] = [];
  const releases: (() => void)[] = [];
  let silent = false;
  let hangUps = 0;

  const hold = async (response: ServerResponse): Promise<void> => {
    await new Promise<void>((resolve) => {
      releases.push(resolve);
      response.once("close", resolve);
      silent = true;
    });
  };

  const play = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = { path: incoming.url ?? "/", body: parsed(await textOf(incoming)) };
    requests.push(request);
    const answer = respond(request);
    if (answer.type === "drop") return void incoming.socket.destroy();
    let cut = false;
    response.once("close", () => {
      if (!response.writableFinished && !cut) hangUps++;
    });
    if (answer.type === "silence") return hold(response);
    response.writeHead(answer.status, answer.headers);
    response.flushHeaders();
    response.socket?.setNoDelay(true);
    for (const step of answer.steps) {
      if (response.destroyed) return;
      if (step.type === "hold") await hold(response);
      else if (step.type === "write") await written(response, step.bytes);
      else if (step.type === "trailers") response.addTrailers(step.trailers);
      else if (step.type === "flood") await flooded(response, step);
      else {
        cut = true;
        return void response.socket?.destroySoon();
      }
    }
    response.end();
  };

  const server = createServer((incoming, response) => {
    play(incoming, response).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    hangUps: () => hangUps,
    isSilent: () => silent,
    release: () => {
      for (const release of releases.splice(0)) release();
    },
    close: () => closed(server),
  };
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  incoming.setEncoding("utf8");
  let text = "";
  for await (const piece of incoming) text += String(piece);
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Waits for the write and for one turn of the event loop, so that the pieces leave one by one. */
async function written(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => {
    response.write(bytes, () => resolve());
    if (response.destroyed) resolve();
  });
  await new Promise((resolve) => setImmediate(resolve));
}

async function flooded(response: ServerResponse, { piece, count }: Extract<WireStep, { readonly type: "flood" }>): Promise<void> {
  for (let sent = 0; sent < count && !response.destroyed; sent++) {
    if (response.write(piece)) continue;
    await new Promise<void>((resolve) => {
      const proceed = (): void => {
        response.off("drain", proceed).off("close", proceed);
        resolve();
      };
      response.on("drain", proceed).on("close", proceed);
      if (response.destroyed) proceed();
    });
  }
}

async function closed(server: Server): Promise<void> {
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
}
