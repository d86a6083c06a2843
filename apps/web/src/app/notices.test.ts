import { AgentError } from "@loopwright/core/protocol";
import { expect, it } from "vitest";
import { createNotices } from "./notices.ts";

it("a word goes by itself, a failure stays until it is dismissed", () => {
  const due: (() => void)[] = [];
  const notices = createNotices((act) => due.push(act));
  notices.say("Copied");
  notices.fail(new AgentError("RUN_LIMIT", { message: "too many" }));
  for (const act of due) act();
  const [left, ...others] = notices.read();
  expect(others).toEqual([]);
  expect(left).toMatchObject({ text: "too many", error: { code: "RUN_LIMIT" } });
  notices.dismiss(left?.id ?? 0);
  expect(notices.read()).toEqual([]);
});

it("of many notices the last three are shown, and an unknown error is shown with its own message", () => {
  const notices = createNotices(() => undefined);
  for (const text of ["1", "2", "3"]) notices.say(text);
  notices.fail(new TypeError("no such thing"));
  expect(notices.read().map(({ text }) => text)).toEqual(["2", "3", "no such thing"]);
  expect(notices.read()[2]?.error?.code).toBe("INTERNAL");
});
