import { expect, test } from "vitest";
import { knownSecrets } from "./known-secrets.ts";
import { refuseReuse } from "./secret-categories.ts";

test("a value is hidden wherever it stands, the longest first, and text that may become one is held back", () => {
  const filter = knownSecrets({ SHORT: "acme-1", LONG: "acme-1234", TINY: "a" })?.filter;
  const apply = (text: string): unknown => filter?.apply?.(text, {} as never);
  expect(apply("x acme-1234 y acme-1 z acme-1234")).toBe("x [secret LONG] y [secret SHORT] z [secret LONG]");
  const held = filter?.holdBack;
  if (typeof held !== "function") throw new Error("It holds nothing back.");
  expect(["plain", "see ac", "see acme-1", "acme-123", "acme-1234"].map((text) => held(text))).toEqual([0, 2, 6, 8, 0]);
  expect(knownSecrets({ TINY: "a" })).toBeUndefined();
});

test("C18, C19: one value in secrets of different services is refused with both names and without the value, and within one service or in a name of one's own it is not", () => {
  const shared = "canary-value-of-two";
  const refused = (): void => refuseReuse({ OPENAI_API_KEY: shared, TELEGRAM_BOT_TOKEN: ` ${shared} ` });
  expect(refused).toThrow("OPENAI_API_KEY and TELEGRAM_BOT_TOKEN have the same value");
  expect(refused).not.toThrow(shared);
  expect(() => refuseReuse({ TAVILY_API_KEY: shared, SLACK_BOT_TOKEN: shared })).toThrow("TAVILY_API_KEY and SLACK_BOT_TOKEN");
  refuseReuse({ OPENAI_API_KEY: shared, ANTHROPIC_API_KEY: shared, SLACK_APP_TOKEN: "t", SLACK_BOT_TOKEN: "t", ACME_TOKEN: shared });
  refuseReuse({ OPENAI_API_KEY: "", TELEGRAM_BOT_TOKEN: "" });
});
