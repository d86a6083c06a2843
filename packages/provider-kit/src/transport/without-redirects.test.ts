import { describe, expect, it } from "vitest";
import { nodeHttp } from "../node/node-http.ts";
import { loopbackServer } from "../testing/loopback-server.ts";
import { withoutRedirects } from "./without-redirects.ts";

const secret = "sk-test-0123456789abcdef";
const context = { provider: "Acme", secrets: [secret] };
const post = { method: "POST", headers: { "x-goog-api-key": secret, "x-api-key": secret }, body: '{"prompt":"the secret plan"}' };

/** A transport that asks for redirects to be followed, whatever its caller wants. */
const disobedient: typeof fetch = (input, init) => globalThis.fetch(input, { ...init, redirect: "follow" });

describe.each([
  ["the global fetch", globalThis.fetch],
  ["node:http", nodeHttp()],
])("over %s", (_, transport) => {
  it.each([300, 301, 302, 303, 305, 307, 308])("status %i reaches no other server and is MODEL_REDIRECTED", async (status) => {
    await using thief = await loopbackServer((response) => void response.end("{}"));
    await using vendor = await loopbackServer((response) => {
      response.writeHead(status, { location: `${thief.origin}/v1?key=${secret}` }).end();
    });
    const call = withoutRedirects(transport, context)(vendor.origin, post);
    await expect(call).rejects.toMatchObject({
      code: "MODEL_REDIRECTED",
      retryable: false,
      message: `Acme redirected the call to ${thief.origin} (status ${status}), which was not followed.`,
      details: { status, origin: thief.origin },
    });
    expect(thief.asked).toEqual([]);
  });
});

it("a redirect to a path of the same server is not followed either", async () => {
  await using vendor = await loopbackServer((response) => void response.writeHead(307, { location: "/elsewhere" }).end());
  const call = withoutRedirects(fetch, context)(vendor.origin, post);
  await expect(call).rejects.toMatchObject({ code: "MODEL_REDIRECTED", details: { origin: vendor.origin } });
  expect(vendor.asked.length).toBe(1);
});

it("the answer of a transport that follows all the same is not used", async () => {
  await using thief = await loopbackServer((response) => void response.end("{}"));
  await using vendor = await loopbackServer((response) => void response.writeHead(302, { location: thief.origin }).end());
  const call = withoutRedirects(disobedient, context)(vendor.origin, post);
  await expect(call).rejects.toMatchObject({ code: "MODEL_REDIRECTED", message: expect.stringContaining("followed a redirect") });
});

it.each([undefined, "http://", `https://${secret}.example/`])(
  "the error of a redirect to %s holds no more than is safe",
  async (location) => {
    const transport = async (): Promise<Response> => new Response(null, { status: 307, ...(location ? { headers: { location } } : {}) });
    const error = await withoutRedirects(transport, context)("https://api.acme.example/v1", post).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "MODEL_REDIRECTED" });
    expect(JSON.stringify(error) + String(error)).not.toContain(secret);
  },
);

it("any other answer is passed on as it is", async () => {
  const answer = new Response("{}", { status: 500 });
  expect(await withoutRedirects(async () => answer, context)("https://api.acme.example")).toBe(answer);
});
