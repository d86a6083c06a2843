import { describe, expect, it } from "vitest";
import { parseUrl, type ResolveHost, urlGuard } from "../src/index.ts";

// The payloads of the guard stand with the tools for pages: packages/tools-web/test/ssrf-payloads.test.ts.
const at =
  (...addresses: readonly string[]): ResolveHost =>
  async () =>
    addresses;

describe("a guard of URLs", () => {
  it("gives the addresses that were looked up, and refuses a name if one of them is not public", async () => {
    const url = parseUrl("https://models.example/v1");
    expect(await urlGuard({ resolve: at("93.184.216.34", "2606:2800::1") }).admit(url)).toMatchObject({
      addresses: ["93.184.216.34", "2606:2800::1"],
      isPrivate: false,
    });
    for (const bad of ["10.0.0.1", "::1", "169.254.169.254"])
      await expect(urlGuard({ resolve: at("93.184.216.34", bad) }).admit(url)).rejects.toMatchObject({
        details: { reason: "blocked_address" },
      });
  });

  it("refuses with INPUT_INVALID, a reason and what to do, and shows neither a query nor credentials", async () => {
    const guard = urlGuard({ resolve: at("93.184.216.34") });
    const refused: unknown = await guard
      .admit(parseUrl("https://anne:canary@models.example/v1?key=canary"))
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "INPUT_INVALID",
      details: { reason: "credentials_in_url" },
      fix: expect.stringMatching(/password/),
    });
    expect(String(refused)).not.toContain("canary");
    expect(() => parseUrl("not a url")).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
    expect(() => urlGuard({ policy: { ports: [0] } })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});
