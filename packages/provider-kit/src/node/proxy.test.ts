import { describe, expect, it } from "vitest";
import { fixedProxy, proxyFromEnvironment } from "./proxy.ts";

describe("proxyFromEnvironment", () => {
  const environment = { HTTP_PROXY: "plain:1", https_proxy: "http://secure:2", NO_PROXY: "a.test, .b.test,c.test:8443,*.d.test" };
  it.each([
    ["http://x.test", "plain:1"],
    ["https://x.test", "secure:2"],
    ["https://a.test", undefined],
    ["https://sub.a.test", undefined],
    ["https://nota.test", "secure:2"],
    ["https://b.test", undefined],
    ["https://sub.b.test", undefined],
    ["https://c.test", "secure:2"],
    ["https://c.test:8443", undefined],
    ["https://x.d.test", undefined],
  ])("sends %s through %s", (url, expected) => {
    expect(proxyFromEnvironment(environment)(new URL(url))?.url.host).toBe(expected);
  });

  it("takes ALL_PROXY for what has none of its own and no proxy where none is set", () => {
    expect(proxyFromEnvironment({ ALL_PROXY: "http://all:1" })(new URL("https://x.test"))?.url.host).toBe("all:1");
    expect(proxyFromEnvironment({ ALL_PROXY: "http://all:1", NO_PROXY: "*" })(new URL("https://x.test"))).toBeUndefined();
    expect(proxyFromEnvironment({ HTTP_PROXY: "" })(new URL("http://x.test"))).toBeUndefined();
  });

  it.each(["socks5://127.0.0.1:1080", "http://"])("refuses %s with what to do, without repeating it", (address) => {
    expect(() => fixedProxy(address)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.not.stringContaining(address) }),
    );
  });
});
