import { describe, expect, it } from "vitest";
import { bearer, payloadScene, people, problemIn } from "./payload-scene.ts";
import { json, rawExchange, requestText } from "./raw-exchange.ts";

const evilOrigins = [
  "https://evil.com",
  "null",
  "",
  "https://good.com.evil.com",
  "https://good.com@evil.com",
  "http://good.com",
  "https://good.com:8443",
  "https://GOOD.com.",
  "*",
  "file://",
  "https://good.com https://evil.com",
  "http://localhost.evil.com",
];

/** What a page may have a browser send. */
const asked: readonly (readonly [line: string, headers: { readonly [name: string]: string }, body?: string])[] = [
  ["GET /api/sessions", { Cookie: "session=anne" }],
  ["GET /api/notifications", { Accept: "text/event-stream", Cookie: "session=anne" }],
  ["GET /healthz", {}],
  ["POST /api/sessions", json, "{}"],
  ["POST /api/agent/execute", { "Content-Type": "text/plain" }, '{"input":"Hi","context":{}}'],
  ["OPTIONS /api/sessions", { "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-odd, authorization" }],
  ["DELETE /api/sessions/a", {}],
];

describe("H01: a page of another origin", () => {
  it.each(evilOrigins)("at `%s` is refused whatever it sends, gets no CORS headers, and leaves no trace", async (Origin) => {
    const { port, writes } = await payloadScene({ origins: ["https://good.com"] });
    for (const [line, headers, body] of asked) {
      const answer = await rawExchange({ port, bytes: requestText(line, { ...headers, Origin }, body) });
      expect(problemIn(answer)).toMatchObject({ status: 403, code: "ORIGIN_REFUSED" });
      expect(answer).not.toMatch(/^access-control-/im);
    }
    expect(writes).toEqual([]);
  });

  it("that is allowed is named in the answer, never by `*` and never with cookies, also where it is refused and in streams", async () => {
    const { port } = await payloadScene({ origins: ["https://good.com"], authenticate: people });
    const Origin = "https://good.com";
    const answers = [
      await rawExchange({ port, bytes: requestText("GET /api/agents", { Origin, ...bearer("nobody-0123456789ab") }) }),
      await rawExchange({ port, bytes: requestText("GET /healthz", { Origin }) }),
      await rawExchange({ port, bytes: requestText("OPTIONS /api/sessions", { Origin, "Access-Control-Request-Headers": "x-odd" }) }),
      await rawExchange({
        port,
        bytes: requestText("GET /api/notifications", { Origin, ...bearer("anne-0123456789abcdef") }),
        meanwhile: (socket) => void socket.once("data", () => socket.end()),
      }),
    ];
    expect(answers.map((answer) => answer.slice(9, 12))).toEqual(["401", "200", "204", "200"]);
    for (const answer of answers) {
      expect(answer).toMatch(/^access-control-allow-origin: https:\/\/good\.com$/im);
      expect(answer).toMatch(/^vary: .*origin/im);
      expect(answer).not.toMatch(/access-control-allow-credentials/i);
      expect(answer).not.toMatch(/^access-control-allow-.*(?:\*|x-odd)/im);
    }
  });

  it("cannot have a form sent as JSON: without an origin the media type and the `Sec-Fetch-Site` header are checked", async () => {
    const { port, writes } = await payloadScene();
    const form = '{"input":"Hi","context":{},"a":"="}';
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", "application/json5", ""]) {
      const answer = await rawExchange({ port, bytes: requestText("POST /api/agent/execute", { "Content-Type": type }, form) });
      expect(problemIn(answer)).toMatchObject({ status: 415, code: "MEDIA_TYPE_UNSUPPORTED" });
    }
    const crossSite = { ...json, "Sec-Fetch-Site": "cross-site" };
    for (const line of ["POST /api/agent/execute", "POST /api/files", "PATCH /api/sessions/a", "DELETE /api/sessions/a"]) {
      const answer = await rawExchange({ port, bytes: requestText(line, crossSite, form) });
      expect(problemIn(answer)).toMatchObject({ status: 403, code: "ORIGIN_REFUSED" });
    }
    expect(writes).toEqual([]);
  });

  it("cannot have a picture, a script or a frame open streams and read here; following a link to here still works", async () => {
    const { port } = await payloadScene();
    for (const site of ["cross-site", "same-site"])
      for (const [mode, dest] of [
        ["no-cors", "image"],
        ["no-cors", "script"],
        ["navigate", "iframe"],
        ["websocket", ""],
      ] as const)
        for (const line of ["GET /api/notifications", "GET /api/sessions/a/events?after=", "GET /api/sessions"]) {
          const headers = { "Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest };
          const answer = await rawExchange({ port, bytes: requestText(line, headers) });
          expect(problemIn(answer)).toMatchObject({ status: 403, code: "ORIGIN_REFUSED" });
        }
    for (const headers of [
      { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" },
      { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image" },
      { "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" },
    ])
      expect(await rawExchange({ port, bytes: requestText("GET /api/sessions", headers) })).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("gains nothing by a browser's cookies: only the header identifies the caller", async () => {
    const { port } = await payloadScene({ authenticate: people });
    const Cookie = "Authorization=Bearer anne-0123456789abcdef; token=anne-0123456789abcdef";
    expect(problemIn(await rawExchange({ port, bytes: requestText("GET /api/sessions", { Cookie }) }))).toMatchObject({ status: 401 });
  });

  it("cannot show the page in a frame or read its answers as scripts and pictures", async () => {
    const { send } = await payloadScene({ page: async () => ({ bytes: new Uint8Array(), mediaType: "text/html" }) });
    for (const path of ["/", "/api/agents", "/healthz", "/api/nope"]) {
      const { headers } = await send(path);
      expect(headers.get("X-Frame-Options")).toBe("DENY");
      expect(headers.get("Content-Security-Policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("Cross-Origin-Resource-Policy")).toBe("same-origin");
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    }
  });
});

describe("H01: the page of the server itself", () => {
  it("may ask under the name that the browser has for it", async () => {
    const { port } = await payloadScene();
    for (const host of ["localhost", `localhost:${port}`, `127.0.0.1:${port}`]) {
      const headers = { Host: host, Origin: `http://${host}`, "Sec-Fetch-Site": "same-origin", ...json };
      expect(await rawExchange({ port, bytes: requestText("POST /api/sessions", headers, "{}") })).toMatch(/^HTTP\/1\.1 201 /);
    }
  });
});
