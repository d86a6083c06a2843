import { once } from "node:events";
import { Agent, createServer, get, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import type { EventSink } from "../stream/event-sink.ts";
import { openNodeSink } from "./node-sink.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** A server that opens a sink for every request and hands it on. */
async function serve(onSink: (sink: EventSink, url: string) => void): Promise<number> {
  const server = createServer((request, response) => {
    const { sink } = openNodeSink(response)({ status: 200, headers: new Headers({ "Content-Type": "text/event-stream" }) });
    onSink(sink, request.url ?? "");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function answerTo(port: number, agent?: Agent): Promise<IncomingMessage> {
  const [answer] = (await once(get({ port, host: "127.0.0.1", ...(agent ? { agent } : {}) }), "response")) as [IncomingMessage];
  return answer;
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of answer.setEncoding("utf8")) text += piece;
  return text;
}

async function connected(port: number, request: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  cleanups.push(() => socket.destroy());
  await once(socket, "connect");
  socket.write(request);
  return socket;
}

it("brings everything in order, written in one turn or in many, and the next answer on the same connection", async () => {
  const port = await serve((sink) => {
    sink.write(bytesOf("one "));
    sink.write(bytesOf("two "));
    setImmediate(() => {
      sink.write(bytesOf("três "));
      setImmediate(() => {
        sink.write(bytesOf("four"));
        sink.end();
      });
    });
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  cleanups.push(() => agent.destroy());
  const first = await answerTo(port, agent);
  const { localPort } = first.socket;
  expect([first.headers["transfer-encoding"], await textOf(first)]).toEqual(["chunked", "one two três four"]);
  const second = await answerTo(port, agent);
  expect([second.socket.localPort, await textOf(second)]).toEqual([localPort, "one two três four"]);
});

it("brings the same bytes to every reader", async () => {
  const sinks: EventSink[] = [];
  const shared = [bytesOf("a"), bytesOf("bc"), bytesOf("def")];
  const port = await serve((sink) => {
    sinks.push(sink);
    if (sinks.length < 3) return;
    for (const bytes of shared) for (const each of sinks) each.write(bytes);
    for (const each of sinks) each.end();
  });
  const answers = await Promise.all([answerTo(port), answerTo(port), answerTo(port)]);
  expect(await Promise.all(answers.map(textOf))).toEqual(["abcdef", "abcdef", "abcdef"]);
});

it("ignores what is written after the end, which belongs to the next answer", async () => {
  const port = await serve((sink) => {
    sink.write(bytesOf("said"));
    sink.end();
    sink.write(bytesOf("too late"));
    sink.end();
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  cleanups.push(() => agent.destroy());
  expect(await textOf(await answerTo(port, agent))).toBe("said");
  expect(await textOf(await answerTo(port, agent))).toBe("said");
});

it("lets a request wait behind another one on its connection", async () => {
  const sinks = new Map<string, EventSink>();
  const port = await serve((sink, url) => {
    sinks.set(url, sink);
    if (sinks.size < 2) return;
    sinks.get("/2")?.write(bytesOf("second"));
    sinks.get("/2")?.end();
    sinks.get("/1")?.write(bytesOf("first"));
    sinks.get("/1")?.end();
  });
  const head = "Host: localhost\r\n";
  const socket = await connected(port, `GET /1 HTTP/1.1\r\n${head}\r\nGET /2 HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
  let text = "";
  for await (const piece of socket.setEncoding("utf8")) text += piece;
  expect(text.match(/\r\n\r\n\w+\r\n\w+\r\n0\r\n/g)).toEqual(["\r\n\r\n5\r\nfirst\r\n0\r\n", "\r\n\r\n6\r\nsecond\r\n0\r\n"]);
});

it("sends no chunks to a client of HTTP/1.0", async () => {
  const port = await serve((sink) => {
    sink.write(bytesOf("one "));
    sink.write(bytesOf("two"));
    sink.end();
  });
  const socket = await connected(port, "GET / HTTP/1.0\r\n\r\n");
  let text = "";
  for await (const piece of socket.setEncoding("utf8")) text += piece;
  expect(text.slice(text.indexOf("\r\n\r\n"))).toBe("\r\n\r\none two");
});

it("calls back when a slow reader has taken all", async () => {
  const opened = Promise.withResolvers<EventSink>();
  const port = await serve((sink) => opened.resolve(sink));
  const socket = await connected(port, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  socket.pause();
  const sink = await opened.promise;
  const piece = new Uint8Array(1024 * 1024);
  while (sink.queuedBytes < 16 * piece.byteLength) {
    sink.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const drained = new Promise<void>((resolve) => sink.onDrain(resolve));
  socket.resume();
  await drained;
  expect(sink.queuedBytes).toBe(0);
});

it("calls back about the drain and the end when the other side goes away", async () => {
  const opened = Promise.withResolvers<EventSink>();
  const port = await serve((sink) => opened.resolve(sink));
  const socket = await connected(port, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  socket.pause();
  const sink = await opened.promise;
  const closed = new Promise<void>((resolve) => sink.onClose(resolve));
  while (sink.queuedBytes < 16 * 1024 * 1024) sink.write(new Uint8Array(1024 * 1024));
  const drained = new Promise<void>((resolve) => sink.onDrain(resolve));
  socket.destroy();
  await Promise.all([closed, drained]);
  sink.write(bytesOf("to nobody"));
  expect(sink.queuedBytes).toBe(0);
  let isNotified = false;
  sink.onClose(() => {
    isNotified = true;
  });
  expect(isNotified).toBe(true);
});

it("cuts the connection at once", async () => {
  const port = await serve((sink) => {
    sink.write(bytesOf("half"));
    sink.destroy();
  });
  const socket = await connected(port, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  socket.on("error", () => {}).resume();
  await once(socket, "close");
  expect(socket.bytesRead).toBe(0);
});

it("is over from its beginning where the other side has gone before", async () => {
  const opened = Promise.withResolvers<EventSink>();
  const server = createServer((_, response) => {
    response.once("close", () => {
      setImmediate(() => opened.resolve(openNodeSink(response)({ status: 200, headers: new Headers() }).sink));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  cleanups.push(() => server.close());
  const socket = await connected((server.address() as AddressInfo).port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await once(server, "request");
  socket.destroy();
  const sink = await opened.promise;
  sink.write(bytesOf("to nobody"));
  let closes = 0;
  sink.onClose(() => closes++);
  expect([closes, sink.queuedBytes]).toEqual([1, 0]);
  sink.end();
});
