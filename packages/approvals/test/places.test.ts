import { describe, expect, it } from "vitest";
import { type ApprovalPattern, checkedPattern, exactPattern, fitsPattern } from "../src/index.ts";

const below = (folder: string): ApprovalPattern => ({ args: { path: { below: folder } } });
const origin = (text: string): ApprovalPattern => ({ args: { url: { origin: text } } });

describe("a pattern of an approval", () => {
  it.each([
    ["src/", "src/a.ts", true],
    ["src/", "src/deep/a.ts", true],
    ["src/", "src/deep/", true],
    ["/srv/data/", "/srv/data/x", true],
    ["src/", "src", false],
    ["src/", "src/", false],
    ["src/", "srcs/a.ts", false],
    ["src/", "./src/a.ts", false],
    ["src/", "/src/a.ts", false],
    ["src/", "src/../secret", false],
    ["src/", "src/a/../../secret", false],
    ["src/", "src/..", false],
    ["src/", "src//etc/passwd", false],
    ["src/", "src/./a", false],
    ["src/", "src/..\\secret", false],
    ["src/", "src/a\u0000.ts", false],
    ["src/", "src/a\n", false],
    ["src/", "SRC/a.ts", false],
    ["src/", ["src/a.ts"], false],
    ["src/", 7, false],
  ])("below %j: a path %j fits: %s", (folder, path, fits) => {
    expect(fitsPattern(checkedPattern(below(folder)), { path })).toBe(fits);
  });

  it.each([
    ["https://example.com", "https://example.com", true],
    ["https://example.com", "https://example.com/a?b#c", true],
    ["https://example.com", "https://example.com?b", true],
    ["https://example.com:8443", "https://example.com:8443/a", true],
    ["https://example.com", "http://example.com/", false],
    ["https://example.com", "https://example.com:8443/", false],
    ["https://example.com", "https://example.com.evil.org/", false],
    ["https://example.com", "https://example.com@evil.org/", false],
    ["https://example.com", "https://user@example.com/", false],
    ["https://example.com", "https://evil.org/https://example.com/", false],
    ["https://example.com", "https://example.com\\@evil.org/", false],
    ["https://example.com", " https://example.com/", false],
    ["https://example.com", "https://example.com/\n", false],
    ["https://example.com", "https://example.com/ x", false],
    ["https://example.com", "https://ex\u0430mple.com/", false],
    ["https://example.com", "//example.com/", false],
    ["https://example.com", "HTTPS://EXAMPLE.COM/", false],
  ])("origin %s: an address %j fits: %s", (from, url, fits) => {
    expect(fitsPattern(checkedPattern(origin(from)), { url })).toBe(fits);
  });

  it("compares exact values whatever the order of their members, and nothing else", () => {
    const pattern = exactPattern({ to: "anne", lines: [{ a: 1, b: null }] });
    expect(fitsPattern(pattern, { lines: [{ b: null, a: 1 }], to: "anne" })).toBe(true);
    for (const args of [
      { to: "anne" },
      { to: "anne", lines: [{ a: 1 }] },
      { to: "anne", lines: [{ a: "1", b: null }] },
      { to: "anne", lines: [{ a: 1, b: null }], bcc: "ben" },
      { to: "Anne", lines: [{ a: 1, b: null }] },
    ])
      expect(fitsPattern(pattern, args)).toBe(false);
  });

  it("covers no call with an argument that it does not name, and one without arguments covers such calls alone", () => {
    expect(fitsPattern(below("src/"), { path: "src/a", mode: "0777" })).toBe(false);
    expect(fitsPattern({ args: {} }, {})).toBe(true);
    expect(fitsPattern({ args: {} }, { path: "src/a" })).toBe(false);
    expect(fitsPattern(below("src/"), {})).toBe(false);
    const written: ApprovalPattern = { args: { path: { below: "src/" }, text: { any: true } } };
    expect([fitsPattern(written, { path: "src/a", text: "x" }), fitsPattern(written, { path: "src/a" })]).toEqual([true, true]);
  });

  it("is not found through the prototype of an object", () => {
    expect(fitsPattern({ args: {} }, { constructor: "x" })).toBe(false);
    expect(fitsPattern(checkedPattern({ args: { toString: { equals: "a" } } }), { toString: "a" })).toBe(true);
  });

  it.each([
    ["no object", "src/"],
    ["a list", []],
    ["another field", { args: {}, tools: "*" }],
    ["no arguments", {}],
    ["a bare value", { args: { path: "src/" } }],
    ["an unknown matcher", { args: { path: { regex: ".*" } } }],
    ["two matchers", { args: { path: { below: "src/", any: true } } }],
    ["no matcher", { args: { path: {} } }],
    ["a folder without its end", { args: { path: { below: "src" } } }],
    ["the root", { args: { path: { below: "/" } } }],
    ["no folder", { args: { path: { below: "" } } }],
    ["a folder above", { args: { path: { below: "src/../" } } }],
    ["a folder with an empty segment", { args: { path: { below: "src//" } } }],
    ["a wildcard that is no host", { args: { url: { origin: "https://*" } } }],
    ["an origin with a path", { args: { url: { origin: "https://example.com/" } } }],
    ["an origin with a user", { args: { url: { origin: "https://a@example.com" } } }],
    ["another scheme", { args: { url: { origin: "file:///etc" } } }],
    ["a default port that is written out", { args: { url: { origin: "https://example.com:443" } } }],
    ["any that is not true", { args: { a: { any: false }, b: { equals: 1 } } }],
    ["nothing but any", { args: { a: { any: true }, b: { any: true } } }],
    ["too many arguments", { args: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`a${at}`, { equals: 1 }])) }],
    ["too many bytes", { args: { a: { equals: "x".repeat(5_000) } } }],
  ])("is refused with INPUT_INVALID: %s", (_, value) => {
    expect(() => checkedPattern(value)).toThrow(expect.objectContaining({ code: "INPUT_INVALID", fix: expect.any(String) }));
  });
});
