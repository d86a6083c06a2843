import { expect, test } from "vitest";
import { createStyle } from "../terminal/style.ts";
import { approvalLines, decisionOf } from "./approval-lines.ts";

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
  const lines = approvalLines({ ...call, args: { path: "a\u001b[2J" }, reason: "It is\ngone." }, frame);
  expect(lines).toEqual([
    "? Run remove? It is gone.",
    "  {",
    expect.stringMatching(/^ {4}"path": "a.*\[2J"$/),
    "  }",
    "  y allows it, n denies it; a note may follow",
  ]);
  expect(lines.join("")).not.toContain("\u001b");
});

test("arguments that are too long say how much is not shown", () => {
  const args = { lines: Array.from({ length: 100 }, (_, at) => at) };
  expect(approvalLines({ ...call, args }, frame)).toContain("  … and 64 more lines that are not shown");
});
