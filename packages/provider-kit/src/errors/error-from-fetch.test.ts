import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentError } from "@loopwright/core";
import { describe, expect, it } from "vitest";
import { errorFromFetch, streamBroken } from "./error-from-fetch.ts";

const provider = "Vendor";
const { signal } = new AbortController();

async function listen(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe("errorFromFetch", () => {
  it("names a refused connection", async () => {
    const server = createServer();
    const url = await listen(server);
    await new Promise((done) => server.close(done));
    const error = await fetch(url).catch((thrown: unknown) => errorFromFetch(thrown, { provider, signal }));
    expect(error).toMatchObject({ code: "MODEL_UNREACHABLE", retryable: true, message: "The connection to Vendor failed (ECONNREFUSED)." });
  });

  it("calls a connection cut in the middle a broken stream, though fetch throws a bare TypeError", async () => {
    const server = createServer((_, response) => {
      response.write("data: 1\n\n", () => response.socket?.destroy());
    });
    const response = await fetch(await listen(server));
    const error = await response.text().catch((thrown: unknown) => errorFromFetch(thrown, { provider, signal }));
    expect(error).toMatchObject({ code: "MODEL_STREAM_BROKEN", retryable: true });
    server.close();
  });

  it("gives the signal's reason for an aborted call, whatever was thrown", () => {
    const reason = new Error("enough");
    expect(errorFromFetch(new TypeError("terminated"), { provider, signal: AbortSignal.abort(reason) })).toBe(reason);
  });

  it("passes on an AgentError as it is", () => {
    const error = new AgentError("MODEL_AUTH", { message: "no" });
    expect(errorFromFetch(error, { provider, signal })).toBe(error);
  });

  const coded = (code: string): Error => Object.assign(new Error("x"), { code });
  it.each<[string, Error, boolean | undefined, string]>([
    ["a DNS failure", new TypeError("fetch failed", { cause: coded("ENOTFOUND") }), undefined, "MODEL_UNREACHABLE"],
    [
      "a failure on both addresses",
      new TypeError("fetch failed", { cause: new AggregateError([coded("ECONNREFUSED")]) }),
      undefined,
      "MODEL_UNREACHABLE",
    ],
    ["a reset before the answer", coded("ECONNRESET"), false, "MODEL_UNREACHABLE"],
    ["a reset in the answer", coded("ECONNRESET"), true, "MODEL_STREAM_BROKEN"],
    [
      "a time-out of the connection",
      new TypeError("fetch failed", { cause: coded("UND_ERR_CONNECT_TIMEOUT") }),
      undefined,
      "MODEL_TIMEOUT",
    ],
    ["a body that stands still", new TypeError("terminated", { cause: coded("UND_ERR_BODY_TIMEOUT") }), true, "MODEL_TIMEOUT"],
    ["a browser's words", new TypeError("Failed to fetch"), undefined, "MODEL_UNREACHABLE"],
    [
      "a certificate nobody knows",
      new TypeError("fetch failed", { cause: coded("DEPTH_ZERO_SELF_SIGNED_CERT") }),
      undefined,
      "MODEL_UNREACHABLE",
    ],
    ["an address that is none", new TypeError("Invalid URL", { cause: coded("ERR_INVALID_URL") }), undefined, "CONFIG_INVALID"],
    ["JSON that is none", new SyntaxError("Unexpected token"), undefined, "MODEL_PROTOCOL"],
    ["a bug", new TypeError("undefined is not a function"), true, "INTERNAL"],
  ])("classifies %s", (_, thrown, streaming, code) => {
    const context = streaming === undefined ? { provider, signal } : { provider, signal, streaming };
    expect(errorFromFetch(thrown, context)).toMatchObject({ code });
  });

  it.each(["Proxy response (407) !== 200 when HTTP Tunneling", "Proxy Authentication Required (407)"])(
    "F9: does not retry what a proxy refuses without a password: %s",
    (message) => {
      const cancelled = new Error("Request was cancelled.", { cause: Object.assign(new Error(message), { code: "UND_ERR_ABORTED" }) });
      const error = errorFromFetch(new TypeError("fetch failed", { cause: cancelled }), {
        provider: "Vendor",
        signal: new AbortController().signal,
      });
      expect(error).toMatchObject({ code: "MODEL_UNREACHABLE", retryable: false, message: expect.stringContaining("proxy") });
    },
  );

  it("does not retry what a certificate breaks", () => {
    expect(errorFromFetch(coded("SELF_SIGNED_CERT_IN_CHAIN"), { provider, signal })).toMatchObject({ retryable: false });
  });
});

describe("streamBroken", () => {
  it("names what is missing", () => {
    expect(streamBroken("Vendor", "its finish reason")).toMatchObject({
      code: "MODEL_STREAM_BROKEN",
      message: "The answer of Vendor ended without its finish reason.",
    });
  });
});
