import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, request as proxyRequest, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { readSse } from "../body/sse.ts";
import { errorFromFetch } from "../errors/error-from-fetch.ts";
import { nodeHttp } from "./node-http.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const pem = (name: string): string => readFileSync(new URL(`../../test/fixtures/localhost.${name}.pem`, import.meta.url), "utf8");
const cert = pem("cert");
const key = pem("key");
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

const serve = async (handler: Handler): Promise<string> => `http://127.0.0.1:${await listen(createServer(handler))}`;
const serveTls = async (handler: Handler): Promise<string> => `https://localhost:${await listen(createTlsServer({ cert, key }, handler))}`;

/** A promise and what resolves it. */
function signalled(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A proxy of both kinds, that notes what it was asked. */
async function serveProxy(authorization?: string): Promise<{ address: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (authorization !== undefined && request.headers["proxy-authorization"] !== authorization) {
      response.writeHead(407).end();
      return;
    }
    const onward = proxyRequest(request.url ?? "", { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.on("connect", (request, socket: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    if (authorization !== undefined && request.headers["proxy-authorization"] !== authorization) {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      return;
    }
    const [host = "", port] = (request.url ?? "").split(":");
    const onward = connect(Number(port), host === "localhost" ? "127.0.0.1" : host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  return { address: `http://127.0.0.1:${await listen(server)}`, asked };
}

function transport(options: Parameters<typeof nodeHttp>[0] = {}): ReturnType<typeof nodeHttp> {
  const fetchNode = nodeHttp({ proxy: false, ...options });
  cleanUps.push(() => fetchNode.close());
  return fetchNode;
}

const echo: Handler = (request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    response.setHeader("content-type", "application/json");
    response.setHeader("x-twice", ["a", "b"]);
    response.end(
      JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(parts).toString() }),
    );
  });
};

describe("nodeHttp", () => {
  it.each<[string, RequestInit["body"], string]>([
    ["a string", '{"a":"é"}', '{"a":"é"}'],
    ["bytes", new TextEncoder().encode("bytes"), "bytes"],
    ["a form", new URLSearchParams({ a: "1 2" }), "a=1+2"],
    ["a blob", new Blob(["blob"]), "blob"],
    ["a stream", new Blob(["stream"]).stream(), "stream"],
  ])("sends a body that is %s", async (_, body, expected) => {
    const url = await serve(echo);
    const response = await transport()(`${url}/v1/chat?x=1`, {
      method: "POST",
      body: body ?? null,
      headers: { authorization: "Bearer k" },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-twice")).toBe("a, b");
    expect(response.url).toBe(`${url}/v1/chat?x=1`);
    const seen = (await response.json()) as { body: string; method: string; url: string; headers: Record<string, string> };
    expect(seen).toMatchObject({ method: "POST", url: "/v1/chat?x=1", body: expected, headers: { authorization: "Bearer k" } });
    expect(seen.headers["content-length"]).toBe(String(Buffer.byteLength(expected)));
  });

  it("connects to the addresses that it is given, whatever the name resolves to, and to no proxy", async () => {
    const port = Number(new URL(await serve(echo)).port);
    const asked: string[] = [];
    vi.stubEnv("HTTP_PROXY", "http://127.0.0.1:1");
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const addressesOf = async ({ hostname }: URL): Promise<readonly string[]> => {
      asked.push(hostname);
      return ["127.0.0.1"];
    };
    const pinned = transport({ proxy: undefined as never, addressesOf });
    const response = await pinned(`http://models.example:${port}/v1`);
    expect(await response.json()).toMatchObject({ url: "/v1", headers: { host: `models.example:${port}` } });
    expect(asked).toEqual(["models.example"]);
    const refusing = transport({ addressesOf: () => Promise.reject(new Error("blocked")) });
    await expect(refusing(`http://127.0.0.1:${port}/`)).rejects.toThrow("blocked");
    await expect(transport({ addressesOf: async () => [] })(`http://models.example:${port}/`)).rejects.toThrow("fetch failed");
  });

  it("takes a Request as well", async () => {
    const url = await serve(echo);
    const response = await transport()(new Request(url, { method: "PUT", body: "x", headers: { a: "b" } }));
    expect(await response.json()).toMatchObject({ method: "PUT", body: "x", headers: { a: "b" } });
  });

  it("uses one connection for calls after each other", async () => {
    const ports = new Set<number | undefined>();
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      response.end("ok");
    });
    const fetchNode = transport();
    for (let call = 0; call < 3; call++) expect(await (await fetchNode(url)).text()).toBe("ok");
    expect(ports.size).toBe(1);
  });

  it("sends once more on a new connection when an idle one was closed under it", async () => {
    let calls = 0;
    const url = await serve((request, response) => {
      calls++;
      // The second request of a connection meets its end, as if the server had just timed it out.
      if (calls === 2) request.socket.destroy();
      else response.end(`call ${calls}`);
    });
    const fetchNode = transport();
    expect(await (await fetchNode(url)).text()).toBe("call 1");
    expect(await (await fetchNode(url, { method: "POST", body: "b" })).text()).toBe("call 3");
  });

  it("gives each piece as it comes and holds a fast server back from a slow reader", async () => {
    let written = 0;
    const full = signalled();
    const total = 64 * 1024 * 1024;
    const piece = Buffer.alloc(64 * 1024, 120);
    const url = await serve((_, response) => {
      const write = (): void => {
        while (written < total) {
          written += piece.length;
          if (!response.write(piece)) {
            response.once("drain", write);
            full.resolve();
            return;
          }
        }
        response.end();
      };
      write();
    });
    const response = await transport()(url);
    await full.promise;
    let read = 0;
    for await (const bytes of response.body ?? []) {
      if (read === 0) expect(written).toBeLessThan(total);
      read += bytes.length;
    }
    expect(read).toBe(total);
  });

  it.each<[string, (text: string) => Buffer]>([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("decodes %s", async (encoding, compress) => {
    const url = await serve((request, response) => {
      expect(request.headers["accept-encoding"]).toContain(encoding);
      const bytes = compress("compressed €");
      response.writeHead(200, { "content-encoding": encoding, "content-length": bytes.length }).end(bytes);
    });
    const response = await transport()(url);
    expect(response.headers.has("content-encoding")).toBe(false);
    expect(response.headers.has("content-length")).toBe(false);
    expect(await response.text()).toBe("compressed €");
  });

  it("gives an event of a gzip stream as soon as the server has flushed it", async () => {
    let proceed = (): void => undefined;
    const url = await serve((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-type": "text/event-stream" });
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.write("data: 1\n\n");
      gzip.flush();
      proceed = () => gzip.end("data: 2\n\n");
    });
    const response = await transport()(url);
    const seen: string[] = [];
    for await (const events of readSse(response.body ?? new ReadableStream())) {
      seen.push(...events.map((event) => event.data));
      // The second event is written only after the first one was seen.
      proceed();
    }
    expect(seen).toEqual(["1", "2"]);
  });

  it("does not follow a redirect with a key to another place", async () => {
    let reached = 0;
    const target = await serve((_, response) => {
      reached++;
      response.end();
    });
    const url = await serve((_, response) => response.writeHead(307, { location: target }).end());
    const response = await transport()(url, { method: "POST", body: "x", headers: { authorization: "Bearer k" } });
    expect(response.status).toBe(307);
    await expect(transport()(url, { redirect: "error" })).rejects.toThrow(TypeError);
    expect(reached).toBe(0);
  });

  it("names a refused connection as fetch does", async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((done) => server.close(done));
    const thrown = await transport()(`http://127.0.0.1:${port}`).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(TypeError);
    const context = { provider: "Vendor", signal: new AbortController().signal };
    expect(errorFromFetch(thrown, context)).toMatchObject({ code: "MODEL_UNREACHABLE", message: expect.stringContaining("ECONNREFUSED") });
  });

  it.each([
    ["a chunked answer", {}],
    ["a compressed one", { "content-encoding": "gzip" }],
    ["one of a known length", { "content-length": "1000" }],
  ])("fails the body of %s that is cut, never ends it", async (_, headers) => {
    const url = await serve((_request, response) => {
      response.writeHead(200, headers);
      response.write("content-encoding" in headers ? gzipSync("data: 1\n\n").subarray(0, 20) : "data: 1\n\n", () =>
        response.socket?.destroy(),
      );
    });
    const response = await transport()(url);
    const thrown = await response.text().catch((error: unknown) => error);
    const context = { provider: "Vendor", signal: new AbortController().signal };
    expect(errorFromFetch(thrown, context)).toMatchObject({ code: "MODEL_STREAM_BROKEN" });
  });

  describe("aborted", () => {
    const reason = new Error("enough");

    it("before it begins, sends nothing", async () => {
      let calls = 0;
      const url = await serve(() => {
        calls++;
      });
      await expect(transport()(url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      expect(calls).toBe(0);
    });

    it.each(["before the headers", "in the middle of the body"])("%s, throws the reason and closes the socket", async (phase) => {
      const controller = new AbortController();
      const closed = signalled();
      const url = await serve((request, response) => {
        request.socket.once("close", () => closed.resolve());
        if (phase === "before the headers") controller.abort(reason);
        else response.write("data: 1\n\n");
      });
      const call = async (): Promise<void> => {
        const response = await transport()(url, { method: "POST", body: "x", signal: controller.signal });
        for await (const _ of response.body ?? []) controller.abort(reason);
      };
      await expect(call()).rejects.toBe(reason);
      await closed.promise;
    });

    it("in a proxy's tunnel, throws the reason and closes the socket", async () => {
      const controller = new AbortController();
      const closed = signalled();
      const server = createServer();
      server.on("connect", (_, socket: Socket) => {
        // A server's sockets stay half open: the end is what the client's closing shows.
        socket.once("end", () => closed.resolve());
        socket.resume();
        controller.abort(reason);
      });
      const proxy = `http://127.0.0.1:${await listen(server)}`;
      await expect(transport({ proxy })("https://vendor.test/", { signal: controller.signal })).rejects.toBe(reason);
      await closed.promise;
    });

    it("leaves no listener on the signal after an answer was read", async () => {
      const controller = new AbortController();
      let listeners = 0;
      const { addEventListener, removeEventListener } = controller.signal;
      controller.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
        listeners++;
        addEventListener.apply(controller.signal, args);
      };
      controller.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
        listeners--;
        removeEventListener.apply(controller.signal, args);
      };
      const url = await serve(echo);
      await (await transport()(url, { signal: controller.signal })).text();
      expect(listeners).toBe(0);
    });
  });

  it("closes the socket when the reader leaves", async () => {
    const closed = signalled();
    const url = await serve((request, response) => {
      request.socket.once("close", () => closed.resolve());
      response.write("data: 1\n\n");
    });
    const response = await transport()(url);
    for await (const _ of readSse(response.body ?? new ReadableStream())) break;
    await closed.promise;
  });

  describe("over TLS", () => {
    it("F9: refuses an untrusted certificate, with that reason", async () => {
      const url = await serveTls(echo);
      const thrown = await transport()(url).catch((error: unknown) => error);
      const context = { provider: "Vendor", signal: new AbortController().signal };
      expect(errorFromFetch(thrown, context)).toMatchObject({
        code: "MODEL_UNREACHABLE",
        retryable: false,
        message: expect.stringContaining("certificate"),
      });
    });

    it("accepts it with its authority", async () => {
      const url = await serveTls(echo);
      const response = await transport({ tls: { ca: cert } })(url, { method: "POST", body: "secret" });
      expect(await response.json()).toMatchObject({ body: "secret" });
    });
  });

  describe("behind a proxy", () => {
    it("asks for the whole address of a plain server, with the proxy's password kept from the server", async () => {
      const url = await serve(echo);
      const proxy = await serveProxy(`Basic ${Buffer.from("me:pä ss").toString("base64")}`);
      const address = proxy.address.replace("//", `//me:${encodeURIComponent("pä ss")}@`);
      const response = await transport({ proxy: address })(`${url}/path`, { method: "POST", body: "x" });
      expect(await response.json()).toMatchObject({ url: "/path", body: "x", headers: { host: new URL(url).host } });
      expect(proxy.asked).toEqual([`POST ${url}/path`]);
    });

    it("keeps one tunnel to a TLS server", async () => {
      const url = await serveTls(echo);
      const proxy = await serveProxy(`Basic ${Buffer.from("me:pass").toString("base64")}`);
      const fetchNode = transport({ proxy: proxy.address.replace("//", "//me:pass@"), tls: { ca: cert } });
      for (const body of ["1", "2"]) {
        const response = await fetchNode(url, { method: "POST", body });
        const seen = (await response.json()) as { body: string; headers: Record<string, string> };
        expect(seen.body).toBe(body);
        expect(seen.headers["proxy-authorization"]).toBeUndefined();
      }
      expect(proxy.asked).toEqual([`CONNECT ${new URL(url).host}`]);
    });

    it("F9: reports a refusal of the proxy, which another try does not change", async () => {
      const url = await serveTls(echo);
      const proxy = await serveProxy("Basic other");
      const thrown = await transport({ proxy: proxy.address })(url).catch((error: unknown) => error);
      const context = { provider: "Vendor", signal: new AbortController().signal };
      expect(errorFromFetch(thrown, context)).toMatchObject({
        code: "MODEL_UNREACHABLE",
        retryable: false,
        message: expect.stringContaining("407"),
      });
    });

    it("reads the usual variables and spares what NO_PROXY names", async () => {
      const url = await serve(echo);
      const proxy = await serveProxy();
      onTestFinished(() => void vi.unstubAllEnvs());
      for (const name of ["HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"]) vi.stubEnv(name, undefined);
      vi.stubEnv("HTTP_PROXY", proxy.address);
      const through = nodeHttp();
      await (await through(url)).text();
      through.close();
      vi.stubEnv("NO_PROXY", "other.test,127.0.0.1");
      const direct = nodeHttp();
      await (await direct(url)).text();
      direct.close();
      expect(proxy.asked).toEqual([`GET ${url}/`]);
    });
  });
});
