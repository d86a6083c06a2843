import { isAgentError } from "@loopwright/core";
import { describe, expect, it } from "vitest";
import { namesOf } from "./file-path.ts";

function refusal(path: string): string | undefined {
  try {
    namesOf(path);
  } catch (error) {
    if (isAgentError(error, "INVALID_PATH")) return error.message;
    throw error;
  }
  return undefined;
}

describe("a path", () => {
  it.each([
    "a",
    "a.txt",
    ".env",
    "a/b/c.md",
    "with space.txt",
    "naïve.txt",
    "日本語/ファイル.txt",
    "می‌خواهم.txt",
    "👩‍💻.md",
    "%2e%2e/x",
    "a..b",
    "console.txt",
    "...a",
    "a~",
  ])("may be %s", (path) => {
    expect(refusal(path)).toBeUndefined();
    expect(namesOf(path).join("/")).toBe(path.normalize("NFC"));
  });

  it.each([
    ["", "is empty"],
    ["/a", "is absolute"],
    ["~", "begins with ~"],
    ["a/", "empty name"],
    ["a//b", "empty name"],
    [".", ". or .."],
    ["a/../b", ". or .."],
    ["\uFF0E\uFF0E/x", ". or .."],
    ["a\uFF0Fb", "look-alike of a separator"],
    ["a\uFE68b", "look-alike of a separator"],
    ["a\\b", "one of"],
    ["a\u202Egpj.exe", "invisible"],
    ["a\u200Bb", "invisible"],
    ["a\u2028b", "invisible"],
    ["\uD800", "invisible"],
    ["a\uFFFDb", "invisible"],
    ["COM1", "device"],
    ["lpt¹.txt", "device"],
    ["nul .txt", "device"],
    [" a", "begins with a space"],
    ["a.", "ends with"],
    [".Loopwright-x", ".loopwright-"],
    ["ä".repeat(128), "255 bytes"],
    [Array(33).fill("a").join("/"), "32 levels"],
    ["a/".repeat(600), "1024 characters"],
  ])("may not be %j: %s", (path, why) => {
    expect(refusal(path)).toContain(why);
  });

  it("is shown in its refusal cut and escaped", () => {
    expect(refusal(`a\0${"b".repeat(5_000)}`)?.length).toBeLessThan(300);
    expect(refusal("a\0b")).toContain('"a\\u0000b"');
  });
});
