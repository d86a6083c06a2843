import { once } from "node:events";
import { createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { manualClock } from "@loopwright/core/memory";
import { describe, expect, it, onTestFinished } from "vitest";
import { type FetchSettings, fetchPage } from "../src/http/fetch-page.ts";
import { webGuard } from "../src/web-guard.ts";
import { defaultWebLimits } from "../src/web-limits.ts";
import { dialTo, html, publicAddress, type TestServer, webServer } from "./web-server.ts";

type Changes = Partial<FetchSettings> & { readonly signal?: AbortSignal };

/** Fetches `http://good.example/...` from a server on loopback, as if it were public. */
function fetchFrom(server: TestServer, path = "/", { signal = new AbortController().signal, ...changes }: Changes = {}) {
  const guard = webGuard({}, () => Promise.resolve([publicAddress]));
  const settings: FetchSettings = {
    guard,
    limits: defaultWebLimits,
    clock: manualClock(),
    userAgent: "test",
    dial: dialTo(server),
    ...changes,
  };
  return fetchPage(new URL(path, "http://good.example/").href, { settings, signal, isReadable: (type) => type === "text/html" });
}

const reason = (name: string) => expect.objectContaining({ details: { reason: name } });
const limits = (changes: Partial<typeof defaultWebLimits>) => ({ limits: { ...defaultWebLimits, ...changes } });

describe("one look-up, one address (B100, F06)", () => {
  it("connects to the address that was checked, with the name of the URL, in 1,000 tries of a name that changes its address", async () => {
    const server = await webServer((_, response) => html(response, "public"));
    const trap = await webServer((_, response) => html(response, "internal"));
    const looked = new Map<string, number>();
    // Public, then loopback; every second name the other way round; every fifth both at once.
    const resolve = (host: string): Promise<readonly string[]> => {
      const turn = Number(/\d+/.exec(host)?.[0]);
      const count = looked.get(host) ?? 0;
      looked.set(host, count + 1);
      if (turn % 5 === 0) return Promise.resolve([publicAddress, "127.0.0.1"]);
      return Promise.resolve([(turn + count) % 2 === 0 ? publicAddress : "127.0.0.1"]);
    };
    const settings: Changes = { guard: webGuard({}, resolve), dial: dialTo(server, trap) };
    let pages = 0;
    for (let turn = 0; turn < 1_000; turn += 20) {
      const tries = Array.from({ length: 20 }, (_, at) => fetchFrom(server, `http://turn${turn + at}.example/`, settings));
      for (const outcome of await Promise.allSettled(tries)) {
        if (outcome.status === "fulfilled") pages++;
        else expect(outcome.reason).toEqual(reason("blocked_address"));
      }
    }
    expect(trap.connections()).toBe(0);
    expect([...looked.values()]).toEqual(new Array(1_000).fill(1));
    expect(pages).toBe(server.requests.length);
    expect(pages).toBe(400);
    expect(server.requests.every(({ host }) => /^turn\d+\.example$/.test(host))).toBe(true);
  });

  it("gives TLS the name of the URL, not the address", async () => {
    const hello: Buffer[] = [];
    const server = createServer((socket) => {
      socket.once("data", (data: Buffer) => {
        hello.push(data);
        socket.destroy();
      });
    });
    server.listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const dial = () => ({ address: "127.0.0.1", port });
    const guard = webGuard({}, () => Promise.resolve([publicAddress]));
    const settings: FetchSettings = { guard, limits: defaultWebLimits, clock: manualClock(), userAgent: "test", dial };
    const options = { settings, signal: new AbortController().signal, isReadable: () => true };
    await expect(fetchPage("https://good.example/", options)).rejects.toEqual(reason("connection_failed"));
    expect(Buffer.concat(hello).includes("good.example")).toBe(true);
  });

  it("tries the next address of a name whose first does not take connections", async () => {
    const server = await webServer((_, response) => html(response, "here"));
    const guard = webGuard({}, () => Promise.resolve(["93.184.216.35", publicAddress]));
    const dial = ({ address }: { readonly address: string }) => ({
      address: "127.0.0.1",
      port: address === publicAddress ? server.port : 1,
    });
    expect(Buffer.from((await fetchFrom(server, "/", { guard, dial })).bytes).toString()).toBe("here");
    await expect(fetchFrom(server, "/", { guard, dial: () => ({ address: "127.0.0.1", port: 1 }) })).rejects.toEqual(
      reason("connection_failed"),
    );
  });

  it("uses no proxy of the environment and sends no cookie, no credentials and no referer, also after a redirect", async () => {
    const server = await webServer((request, response) => {
      if (request.url !== "/") return html(response, "end");
      response.writeHead(302, { location: "http://other.example/next", "set-cookie": "a=b; Domain=.example" });
      response.end();
    });
    await fetchFrom(server);
    expect(server.requests.map(({ host, path }) => host + path)).toEqual(["good.example/", "other.example/next"]);
    for (const { headers } of server.requests)
      expect(Object.keys(headers).sort()).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"]);
  });
});

describe("redirects (B100, F07)", () => {
  const redirect = (status: number, location: string) =>
    webServer((request, response) => {
      if (request.url === "/end") return html(response, "end");
      response.writeHead(status, { location });
      response.end();
    });

  it.each([301, 302, 303, 307, 308])("with status %i to an internal address is refused at that hop", async (status) => {
    const trap = await webServer((_, response) => html(response, "internal"));
    for (const target of [`http://127.0.0.1:${trap.port}/`, "//127.0.0.1/", "http://[::1]/", "http://169.254.169.254/latest/"]) {
      const server = await redirect(status, target);
      const refused = fetchFrom(server, "/", { dial: dialTo(server, trap) });
      await expect(refused).rejects.toSatisfy(({ details }) => ["blocked_address", "port_not_allowed"].includes(details.reason));
    }
    expect(trap.connections()).toBe(0);
  });

  it.each([
    ["file:///etc/passwd", "scheme_not_allowed"],
    ["http://user:pw@good.example/", "credentials_in_url"],
    ["http://good.example:6379/", "port_not_allowed"],
    ["http://[", "invalid_url"],
  ])("to %s are refused: %s", async (target, name) => {
    await expect(fetchFrom(await redirect(302, target))).rejects.toEqual(reason(name));
  });

  it("are followed five times and not a sixth, loops included", async () => {
    const server = await webServer((request, response) => {
      const left = Number((request.url ?? "").slice(1));
      if (left === 0) return html(response, "end");
      response.writeHead(302, { location: `/${left - 1}` });
      response.end();
    });
    expect((await fetchFrom(server, "/5")).url.href).toBe("http://good.example/0");
    await expect(fetchFrom(server, "/6")).rejects.toEqual(reason("too_many_redirects"));
    await expect(fetchFrom(await redirect(302, "/"))).rejects.toEqual(reason("too_many_redirects"));
  });

  it("of a page, by `Refresh` or `<meta>`, are not followed", async () => {
    const trap = await webServer((_, response) => html(response, "internal"));
    const target = `0; url=http://127.0.0.1:${trap.port}/`;
    const server = await webServer((_, response) =>
      html(response, `<meta http-equiv="refresh" content="${target}">here`, { refresh: target }),
    );
    expect((await fetchFrom(server)).status).toBe(200);
    expect(trap.connections()).toBe(0);
  });
});

describe("limits (B100, F11)", () => {
  it("cut a body that is too long, also one that never ends, and close its connection", async () => {
    let closed = 0;
    const server = await webServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", more);
      response.on("close", () => closed++);
      more();
    });
    const page = await fetchFrom(server, "/", limits({ bodyBytesMax: 300_000 }));
    expect([page.bytes.length, page.isCut]).toEqual([300_000, true]);
    while (closed === 0) await new Promise(setImmediate);
  });

  it("cut a small body that becomes large, whatever its compression ratio", async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    const server = await webServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html", "content-encoding": "gzip" });
      response.end(bomb);
    });
    const page = await fetchFrom(server);
    expect([page.bytes.length, page.isCut]).toEqual([defaultWebLimits.bodyBytesMax, true]);
  });

  it("end a page that comes one byte at a time, and one whose name is never found, at the deadline", async () => {
    const clock = manualClock();
    const server = await webServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.write("x");
      response.on("close", () => clock.advance(1));
      // The server is in the middle of the body: the time is up.
      setImmediate(() => clock.advance(10_000));
    });
    await expect(fetchFrom(server, "/", { clock })).rejects.toEqual(reason("timed_out"));
    const silent = fetchFrom(server, "/", { clock, guard: webGuard({}, () => new Promise(() => {})) });
    clock.advance(10_000);
    await expect(silent).rejects.toEqual(reason("timed_out"));
    expect(clock.pending).toBe(0);
  });

  it("refuse an answer with too many headers", async () => {
    const server = await webServer((_, response) => {
      response.socket?.write(`HTTP/1.1 200 OK\r\n${"x-header: 1\r\n".repeat(100_000)}`, () => {});
    });
    await expect(fetchFrom(server)).rejects.toEqual(reason("connection_failed"));
  });

  it("take no more than the announced length, and no body that is shorter", async () => {
    const server = await webServer((request, response) => {
      const length = request.url === "/short" ? 50 : 5;
      response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: ${length}\r\n\r\nhello and more`);
    });
    const outcome = await fetchFrom(server).then(
      ({ bytes }) => Buffer.from(bytes).toString(),
      ({ details }) => details.reason,
    );
    expect(["hello", "connection_failed"]).toContain(outcome);
    await expect(fetchFrom(server, "/short")).rejects.toEqual(reason("connection_failed"));
  });

  it("end with the caller's own reason when the run is aborted", async () => {
    const controller = new AbortController();
    const server = await webServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.write("x");
      controller.abort(new Error("stopped"));
    });
    await expect(fetchFrom(server, "/", { signal: controller.signal })).rejects.toThrow("stopped");
  });
});

describe("what cannot be read", () => {
  it.each([
    ["a PDF", { "content-type": "application/pdf" }, 200, "type_not_supported"],
    ["a page without a type", {}, 200, "type_not_supported"],
    ["a missing page", { "content-type": "text/html" }, 404, "bad_status"],
    ["a redirect without a target", { "content-type": "text/html" }, 302, "bad_status"],
    [
      "an encoding that was not asked for",
      { "content-type": "text/html", "content-encoding": "gzip, gzip" },
      200,
      "encoding_not_supported",
    ],
    [
      "an encoding that is a name of objects",
      { "content-type": "text/html", "content-encoding": "constructor" },
      200,
      "encoding_not_supported",
    ],
    [
      "a body that is not what its encoding promises",
      { "content-type": "text/html", "content-encoding": "gzip" },
      200,
      "connection_failed",
    ],
  ])("is refused with its reason: %s", async (_, headers, status, name) => {
    const server = await webServer((_, response) => {
      response.writeHead(status, headers as Record<string, string>);
      response.end("%PDF");
    });
    await expect(fetchFrom(server)).rejects.toEqual(reason(name));
  });

  it("a connection that becomes another protocol or ends without an answer", async () => {
    const server = await webServer((request, response) => {
      if (request.url === "/end") response.socket?.destroy();
      else response.socket?.end("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
    });
    await expect(fetchFrom(server)).rejects.toEqual(reason("connection_failed"));
    await expect(fetchFrom(server, "/end")).rejects.toEqual(reason("connection_failed"));
  });

  it("leaves credentials and the query out of its error", async () => {
    const server = await webServer((_, response) => response.writeHead(500).end());
    for (const path of ["/a?token=secret-1#secret-1", "http://secret-1:secret-1@good.example/"])
      await expect(fetchFrom(server, path)).rejects.toSatisfy((error: Error) => !error.message.includes("secret-1"));
  });
});
