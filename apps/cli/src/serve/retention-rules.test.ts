import { expect, test } from "vitest";
import { retentionRules } from "./retention-rules.ts";

test("a retention is a scope and its days, also a part of a day", () => {
  expect(retentionRules(["local=90", "garden=0.5"])).toEqual([
    { scope: "local", keepMs: 90 * 86_400_000 },
    { scope: "garden", keepMs: 43_200_000 },
  ]);
  expect(retentionRules([])).toEqual([]);
});

test.each(["90", "=90", "local=", "local=0", "local=-1", "local=1e3", "local=99999", "local=0.000000001", "a/b=9", "local=ninety"])(
  "the retention %s is refused, with what to write instead",
  (text) => {
    expect(() => retentionRules(["garden=1", text])).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(text), fix: expect.stringContaining("local=90") }),
    );
  },
);

test("a scope with two retentions is refused", () => {
  expect(() => retentionRules(["local=1", "local=2"])).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});
