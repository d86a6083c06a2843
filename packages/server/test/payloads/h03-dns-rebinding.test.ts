import { describe, expect, it } from "vitest";
import { payloadScene } from "./payload-scene.ts";
import { json, rawExchange, requestText } from "./raw-exchange.ts";

const page = async () => ({ bytes: new TextEncoder().encode("<page>"), mediaType: "text/html" });

const evilHosts = [
  "evil.com",
  "evil.com:8080",
  "localhost.evil.com",
  "127.0.0.1.nip.io",
  "localhost@evil.com",
  "evil.com#localhost",
  "2130706433",
  "0x7f.1",
  "0.0.0.0",
  "[::ffff:127.0.0.1]",
  "localhost.",
  "10.0.0.1",
  "",
];

describe("H03: a name that an attacker has pointed at this machine", () => {
  it.each(evilHosts)("`%s` is refused in every request, before any route", async (Host) => {
    const { port, writes } = await payloadScene({ page });
    const requests = [
      requestText("GET /", { Host, Accept: "text/html" }),
      requestText("GET /api/sessions", { Host, Origin: `http://${Host}` }),
      requestText("GET /api/notifications", { Host }),
      requestText("GET /healthz", { Host }),
      requestText("POST /api/sessions", { Host, Origin: `http://${Host}`, ...json }, "{}"),
    ];
    for (const bytes of requests) {
      const answer = await rawExchange({ port, bytes });
      expect(answer).toMatch(/^HTTP\/1\.1 4(?:00|21) /);
      expect(answer).not.toContain("<page>");
    }
    expect(writes).toEqual([]);
  });

  it("is refused when a request has two hosts, and when a forwarding header claims another one", async () => {
    const { port, writes } = await payloadScene();
    const post = (line: string, hosts: string) =>
      `${line} HTTP/1.1\r\n${hosts}Connection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    for (const bytes of [
      post("POST /api/sessions", "Host: evil.com\r\nHost: localhost\r\n"),
      post("POST /api/sessions", "Host: localhost\r\nHost: evil.com\r\n"),
      post("POST http://evil.com/api/sessions", "Host: localhost\r\n"),
      post("POST http://localhost/api/sessions", "Host: evil.com\r\n"),
      post(
        "POST /api/sessions",
        "Host: evil.com\r\nX-Forwarded-Host: localhost\r\nForwarded: host=localhost\r\nX-Forwarded-For: 127.0.0.1\r\n",
      ),
      post("POST //evil.com/api/sessions", "Host: evil.com\r\n"),
      "POST /api/sessions HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    ])
      expect(await rawExchange({ port, bytes })).toMatch(/^HTTP\/1\.1 4(?:00|21) /);
    expect(writes).toEqual([]);
  });

  it("may be allowed by name, with its port", async () => {
    const { port } = await payloadScene({ hosts: ["chat.example.com:8080"] });
    const status = async (Host: string) => (await rawExchange({ port, bytes: requestText("GET /healthz", { Host }) })).slice(9, 12);
    expect(await status("chat.example.com:8080")).toBe("200");
    expect(await status("CHAT.example.com:8080")).toBe("200");
    expect(await status("chat.example.com")).toBe("421");
    expect(await status("chat.example.com:8081")).toBe("421");
    expect(await status(`127.0.0.1:${port}`)).toBe("200");
  });
});
