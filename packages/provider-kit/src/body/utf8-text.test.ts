import fc from "fast-check";
import { expect, it } from "vitest";
import { Utf8Text } from "./utf8-text.ts";

const bom = [0xef, 0xbb, 0xbf];
/** Bytes that meet in every way: marks, halves of characters, characters of each length, and what is never UTF-8. */
const piece = fc.oneof(
  fc.constantFrom(bom, [0xef], [0xbb, 0xbf], [0xe2, 0x82], [0xac], [0xf0, 0x9f], [0x98, 0x80], [0xc3], [0xa4], [0xff], [0x80], []),
  fc.string({ unit: "grapheme", maxLength: 4 }).map((text) => [...new TextEncoder().encode(text)]),
  fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 6 }),
);

function textOf(pieces: readonly (readonly number[])[]): string {
  const text = new Utf8Text();
  return pieces.map((bytes) => text.decode(Uint8Array.from(bytes))).join("");
}

/** What the platform's decoder makes of the same pieces; without the end of the body, whose half character neither gives. */
function streamed(pieces: readonly (readonly number[])[]): string {
  const decoder = new TextDecoder();
  return pieces.map((bytes) => decoder.decode(Uint8Array.from(bytes), { stream: true })).join("");
}

it("gives the text that one decoder in the mode of a stream gives, however the body is cut", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      expect(textOf(pieces)).toBe(streamed(pieces));
    }),
    { numRuns: 2_000 },
  );
});

it("drops a byte order mark at the beginning alone, also one that comes in two pieces", () => {
  expect(textOf([[0xef], [0xbb, 0xbf, 97], [...bom, 98]])).toBe("a\ufeffb");
  expect(textOf([bom, [...bom, 98]])).toBe("\ufeffb");
});

it("joins a character that is cut between three pieces of ASCII around it", () => {
  expect(textOf([[97], [98, 0xf0], [0x9f, 0x98], [0x80, 99], [100]])).toBe("ab😀cd");
});
