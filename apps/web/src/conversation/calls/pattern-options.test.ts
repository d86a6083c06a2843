import { describe, expect, it } from "vitest";
import { coversAll, patternOf, patternOptions } from "./pattern-options.ts";

const labelsOf = (value: Parameters<typeof patternOptions>[0]): readonly string[] => patternOptions(value).map(({ label }) => label);

describe("the choices of what a remembered decision covers", () => {
  it("begin with exactly the same value, and name the folders of a path and the origin of an address", () => {
    expect(labelsOf("src/deep/a.ts")).toEqual(["exactly this", "anything in src/deep/", "anything in src/", "anything"]);
    expect(labelsOf("/srv/a")).toEqual(["exactly this", "anything in /srv/", "anything"]);
    expect(labelsOf("https://example.com/a")).toEqual(["exactly this", "anything at https://example.com", "anything"]);
    expect(labelsOf(7)).toEqual(["exactly this", "anything"]);
  });

  it.each(["a/../b", "a//b", "a b/c", "a\\b/c", "https://user@example.com/", "HTTPS://EXAMPLE.com/x", "plain"])(
    "offer nothing wider for %j but anything",
    (text) => {
      expect(labelsOf(text)).toEqual(["exactly this", "anything"]);
    },
  );

  it("give the pattern that the server takes, exact where nothing was chosen", () => {
    const args = { path: "src/a", mode: 7 };
    expect(patternOf(args, {})).toEqual({ args: { path: { equals: "src/a" }, mode: { equals: 7 } } });
    expect(patternOf(args, { path: 1, mode: 1 })).toEqual({ args: { path: { below: "src/" }, mode: { any: true } } });
    expect([coversAll(args, { path: 1, mode: 1 }), coversAll(args, { path: 2, mode: 1 }), coversAll({}, {})]).toEqual([false, true, false]);
  });
});
