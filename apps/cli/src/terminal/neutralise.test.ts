import { expect, test } from "vitest";
import { neutralise, oneLine } from "./neutralise.ts";

const hostile = "</script><img onerror> \u001b]52;c;ZXZpbA==\u0007 \u001b[2J\u009b31m \u202eevil\u2066 \r\nevent: evil\u0000\u007f";

const isControl = (code: number): boolean => (code < 0x20 && code !== 0x0a) || (code >= 0x7f && code <= 0x9f);

test("no control character but the newline survives", () => {
  const all = String.fromCharCode(...Array.from({ length: 0x100 }, (_, code) => code));
  expect(Array.from(neutralise(all)).filter((character) => isControl(character.charCodeAt(0)))).toEqual([]);
});

test("what was hostile stays readable as pictures", () => {
  expect(neutralise(hostile)).toBe("</script><img onerror> ␛]52;c;ZXZpbA==␇ ␛[2J�31m �evil� \nevent: evil␀␡");
});

test("plain text, accents, emoji and right-to-left letters stay as they are", () => {
  const text = "Grüße 🌱👩‍👩‍👧 שלום\nتحية";
  expect(neutralise(text)).toBe(text);
});

test("the result is the same however the text was cut", () => {
  for (let size = 1; size < 9; size++) {
    const pieces = hostile.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
    expect(pieces.map(neutralise).join("")).toBe(neutralise(hostile));
  }
});

test("a text on one line has no newline and is at most as long as asked", () => {
  expect(oneLine("a\n\n b\tc", 20)).toBe("a b c");
  expect(oneLine("0123456789", 5)).toBe("0123…");
  expect(oneLine("x".repeat(10_000), 50)).toHaveLength(50);
});
