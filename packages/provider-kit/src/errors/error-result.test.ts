import { expect, it } from "vitest";
import { errorResultText } from "./error-result.ts";

it.each([
  ["No such place.", "Error: No such place."],
  ["Error: no such place.", "Error: no such place."],
  ["Errors: 0", "Error: Errors: 0"],
  [" \n", "Error: the tool failed."],
])("a failed result %j is sent as %j", (text, notified) => {
  expect(errorResultText(text)).toBe(notified);
});
