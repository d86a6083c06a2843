import { describe, expect, it } from "vitest";
import { annesToken, bearer, payloadScene, people, problemIn } from "./payload-scene.ts";
import { rawExchange, requestText } from "./raw-exchange.ts";

const names = [
  "token",
  "TOKEN",
  "access_token",
  "access-token",
  "accessToken",
  "api_key",
  "apikey",
  "authorization",
  "Bearer",
  "jwt",
  "id_token",
];

describe("H02: a token in the address", () => {
  it.each(names)("as `%s` is refused for streams and all else, though it is right, and is repeated nowhere", async (name) => {
    const { port, logged } = await payloadScene({ authenticate: people });
    for (const line of [`GET /api/notifications?${name}=${annesToken}`, `GET /api/sessions?limit=1&${name}=Bearer%20${annesToken}`])
      for (const headers of [{}, bearer(annesToken)]) {
        const answer = await rawExchange({ port, bytes: requestText(line, headers) });
        expect(problemIn(answer)).toMatchObject({ status: 401, code: "UNAUTHENTICATED", fix: expect.stringContaining("replace it") });
        expect(answer).not.toContain(annesToken);
      }
    expect(JSON.stringify(logged)).not.toContain(annesToken);
  });

  it("is not needed: a stream takes it as a header, and nothing of it reaches the metrics", async () => {
    const { port } = await payloadScene({ authenticate: people });
    const stream = await rawExchange({
      port,
      bytes: requestText("GET /api/notifications", bearer(annesToken)),
      meanwhile: (socket) => void socket.once("data", () => socket.end()),
    });
    expect(stream).toMatch(/^HTTP\/1\.1 200 /);
    await rawExchange({ port, bytes: requestText(`GET /${annesToken}?token=${annesToken}`) });
    const metrics = await rawExchange({ port, bytes: requestText("GET /metrics", bearer(annesToken)) });
    expect(metrics).toContain("loopwright_requests_total");
    expect(metrics).not.toContain(annesToken);
  });
});
