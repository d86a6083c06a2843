import { expect, it } from "vitest";
import { vendorText } from "./redact.ts";

it("takes a secret out wherever it stands, also inside of other text", () => {
  expect(vendorText("Key abcd1234efgh is wrong: xabcd1234efghy.", ["abcd1234efgh"])).toBe("Key [removed] is wrong: x[removed]y.");
});

it("takes a short secret out where it stands alone, and never out of a word", () => {
  const text = "The model nonexistent is none of ours; `none`, key=none, (none).";
  expect(vendorText(text, ["none"])).toBe("The model nonexistent is [removed] of ours; `[removed]`, key=[removed], ([removed]).");
  expect(vendorText("A pässword and a pass.", ["pass"])).toBe("A pässword and a [removed].");
  expect(vendorText("Wrong: a.b-c and xa.b-cx, a+b-c.", ["a.b-c"])).toBe("Wrong: [removed] and xa.b-cx, a+b-c.");
});

it("leaves the text alone where there is no secret, or one of next to nothing", () => {
  const text = "The model nonexistent is not there.";
  expect(vendorText(text, ["", "e", "is", "not"])).toBe(text);
});
