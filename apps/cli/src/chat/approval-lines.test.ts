import { expect, test } from "vitest";
import { createStyle } from "../terminal/style.ts";
import { approvalLines, approvalText, decisionOf } from "./approval-lines.ts";
import { approvalPages } from "./approval-pages.ts";

const frame = { width: 60, style: createStyle(false) };
const call = { toolCallId: "c", callKey: "r.1.0", toolName: "remove", argsDigest: "d" };

test("a decision is y or n with a note behind it, and nothing else", () => {
  expect(["y", " Yes ", "allow", "y: go on", "n", "no, keep it", "deny - not now"].map(decisionOf)).toEqual([
    { decision: "allow" },
    { decision: "allow" },
    { decision: "allow" },
    { decision: "allow", note: "go on" },
    { decision: "deny" },
    { decision: "deny", note: "keep it" },
    { decision: "deny", note: "not now" },
  ]);
  for (const typed of ["", "maybe", "yesterday", "nothing", "1", "?", "ok"]) expect(decisionOf(typed)).toBeUndefined();
});

test("the question shows the reason and all arguments, and nothing that a terminal acts upon", () => {
  const lines = approvalLines({ ...call, args: { path: "a\u001b[2J" }, reason: "It is\ngone." }, frame, 0);
  expect(lines).toEqual([
    "? Run remove? It is gone.",
    "  {",
    expect.stringMatching(/^ {4}"path": "a.*\[2J"$/),
    "  }",
    "  y allows it, n denies it; a note may follow",
  ]);
  expect(lines.join("")).not.toContain("\u001b");
});

test("long arguments come in pages, which together are all of them, and only the last one shows how to allow", () => {
  const args = { lines: Array.from({ length: 100 }, (_, at) => at), text: "\u{1f331}".repeat(4_000) };
  const pages = approvalPages(args);
  expect(pages.length).toBeGreaterThan(4);
  expect(pages.join("").replaceAll("\n", "")).toBe(JSON.stringify(args, undefined, 2).replaceAll("\n", ""));
  expect(pages.every((page) => page.length <= 3_100 && page.split("\n").length <= 40 && page.isWellFormed())).toBe(true);
  const keysOf = (at: number): string => approvalText({ ...call, args }, frame, at).keys.join(" ");
  expect(keysOf(0)).toContain(`page 1 of ${pages.length}: m shows more`);
  expect(pages.map((_, at) => keysOf(at).includes("y allows it"))).toEqual(pages.map((_, at) => at === pages.length - 1));
  expect(approvalLines({ ...call, args }, frame, "all").join("")).toContain("y allows it");
});

test("M07: hosts that may be others than they look like are marked with the one that is asked", () => {
  const marks = (url: string): readonly string[] =>
    approvalLines({ ...call, args: { url } }, frame, 0).filter((line) => line.startsWith("  !"));
  expect(marks("https://apple.com")).toEqual([]);
  expect(
    approvalLines({ ...call, args: { url: "https://\u0430pple.com" } }, frame, 0)
      .join(" ")
      .replaceAll(/\s+/g, " "),
  ).toContain("! \u0430pple.com mixes letters of several alphabets: the host is xn--pple-43d.com");
  expect(marks("https://a\u202e.example")[0]).not.toContain("\u202e");
});
