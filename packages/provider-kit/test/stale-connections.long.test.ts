import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { nodeHttp } from "../src/node/node-http.ts";
import { modelTransport } from "../src/transport/model-transport.ts";

const calls = 3_000;
const callers = 8;

/** A vendor that closes each connection some turns of its loop after an answer, often just as the next request goes out on it. */
async function hastyVendor(): Promise<string> {
  let answers = 0;
  const sockets = new Set<Socket>();
  const closeAfter = (turns: number, socket: Socket): void => {
    if (turns === 0) socket.destroy();
    else setImmediate(() => closeAfter(turns - 1, socket));
  };
  const server = createServer((request, response) => {
    request.resume();
    response.end("answer", () => {
      // One in three is used again for longer.
      if (answers++ % 3 > 0) closeAfter(answers % 7, request.socket);
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** How many calls fail, of callers that each call again some turns of the loop after an answer. */
async function failuresOf(transport: typeof fetch): Promise<number> {
  const url = await hastyVendor();
  let [begun, failed] = [0, 0];
  const call = async (): Promise<void> => {
    while (begun < calls) {
      const turns = begun++ % 5;
      try {
        await (await transport(url, { method: "POST", body: "prompt" })).text();
      } catch {
        failed++;
      }
      for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => void setImmediate(resolve));
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return failed;
}

it("3,000 calls over connections that are closed as they are used again: none fails by default, nor with `nodeHttp()`", async () => {
  const own = nodeHttp();
  onTestFinished(() => own.close());
  expect(await failuresOf(modelTransport(undefined, { provider: "Vendor" }))).toBe(0);
  expect(await failuresOf(own)).toBe(0);
});

it("the suite notices a transport that sends nothing again", async () => {
  expect(await failuresOf((input, init) => fetch(input, init))).toBeGreaterThan(0);
});
