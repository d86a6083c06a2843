import { expect, test } from "vitest";
import { hostNames, isLoopback, openableHost, urlHost } from "./host-names.ts";

test.each([
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["localhost", true],
  ["::1", true],
  ["0.0.0.0", false],
  ["::", false],
  ["127.0.0.1.example.org", false],
  ["localhost.example.org", false],
])("%s is reached by this machine alone: %s", (host, is) => {
  expect(isLoopback(host)).toBe(is);
});

test("a server is called by its address and the names it was given, with the port", () => {
  expect(hostNames("127.0.0.1", 8080, [])).toEqual([]);
  expect(hostNames("192.0.2.7", 8080, ["agents.example.org", "proxy.example.org:443"])).toEqual([
    "192.0.2.7:8080",
    "agents.example.org:8080",
    "agents.example.org",
    "proxy.example.org:443",
  ]);
  expect(hostNames("0.0.0.0", 8080, []).every((name) => name.endsWith(":8080"))).toBe(true);
});

test("a URL names something a browser can open", () => {
  expect(urlHost("::1")).toBe("[::1]");
  expect(openableHost("127.0.0.1")).toBe("127.0.0.1");
  expect(openableHost("0.0.0.0")).not.toBe("0.0.0.0");
});
