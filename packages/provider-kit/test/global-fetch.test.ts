import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { createGzip } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { readSse } from "../src/index.ts";

/** The default transport is the platform's: what it promises us is tested as what we promise ourselves. */
const certFile = fileURLToPath(new URL("fixtures/localhost.cert.pem", import.meta.url));
const key = readFileSync(new URL("fixtures/localhost.key.pem", import.meta.url));
const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Two events, the second only when the first was flushed through gzip. */
const compressed = (_: IncomingMessage, response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
  const gzip = createGzip();
  gzip.pipe(response);
  gzip.write("data: one\n\n");
  gzip.flush(() => gzip.end("data: two\n\n"));
};

/** A proxy that digs tunnels, and notes where to. */
async function tunnels(): Promise<{ readonly address: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer();
  server.on("connect", (request, socket: Socket) => {
    asked.push(request.url ?? "");
    const onward = connect(Number(request.url?.split(":")[1]), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  return { address: `http://127.0.0.1:${await listen(server)}`, asked };
}

/** What a process with these variables reads from the address through global fetch and our reader. */
function readInChild(url: string, env: Record<string, string>): Promise<string> {
  const reader = new URL("../src/body/sse.ts", import.meta.url).href;
  const script = `
    const { readSse } = await import(${JSON.stringify(reader)});
    const said = [];
    for await (const events of readSse((await fetch(process.argv[1])).body)) said.push(...events.map(({ data }) => data));
    console.log(said.join());
  `;
  const args = ["--conditions=@loopwright/source", "--no-warnings", "--input-type=module", "-e", script, url];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  return new Promise((resolve) => {
    let written = "";
    child.stdout.on("data", (bytes) => (written += bytes));
    child.stderr.on("data", (bytes) => (written += bytes));
    child.on("close", () => resolve(written.trim()));
  });
}

describe("global fetch", () => {
  it("reads a gzip stream event by event", async () => {
    const url = `http://127.0.0.1:${await listen(createServer(compressed))}`;
    const written: string[] = [];
    for await (const events of readSse((await fetch(url)).body ?? new ReadableStream())) written.push(...events.map(({ data }) => data));
    expect(written).toEqual(["one", "two"]);
  });

  it("speaks TLS to a server whose certificate the process trusts, and to no other", async () => {
    const url = `https://localhost:${await listen(createTlsServer({ cert: readFileSync(certFile), key }, compressed))}`;
    expect(await readInChild(url, { NODE_EXTRA_CA_CERTS: certFile })).toBe("one,two");
    expect(await readInChild(url, {})).toMatch(/self-signed certificate|SELF_SIGNED/i);
  });

  it("goes through the proxy of the environment when the process has that option", async () => {
    const port = await listen(createTlsServer({ cert: readFileSync(certFile), key }, compressed));
    const proxy = await tunnels();
    const env = { NODE_EXTRA_CA_CERTS: certFile, NODE_USE_ENV_PROXY: "1", HTTPS_PROXY: proxy.address, NO_PROXY: "" };
    expect(await readInChild(`https://localhost:${port}`, env)).toBe("one,two");
    expect(proxy.asked).toEqual([`localhost:${port}`]);
  });

  it("aborted in mid-body throws the reason and closes the socket", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    let onClose = (): void => {};
    const closed = new Promise<void>((resolve) => {
      onClose = resolve;
    });
    const server = createServer((request, response) => {
      request.socket.once("close", onClose);
      response.write("data: one\n\n");
    });
    const url = `http://127.0.0.1:${await listen(server)}`;
    const read = async (): Promise<void> => {
      const { body } = await fetch(url, { signal: controller.signal });
      for await (const _ of readSse(body ?? new ReadableStream())) controller.abort(reason);
    };
    await expect(read()).rejects.toBe(reason);
    await closed;
  });
});
