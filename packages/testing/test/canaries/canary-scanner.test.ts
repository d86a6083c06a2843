import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { canaryForms, canaryScanner } from "../../src/index.ts";

/** With signs that each encoding changes, and letters beyond ASCII. */
const secret = 'sk-CANARY+q7/w"=9&<é😀>\\ end-of-it';
const scanner = canaryScanner([{ name: "the key", text: secret, partMin: 12 }]);
const names = async (bytes: Uint8Array | string): Promise<readonly string[]> => [
  ...new Set((await scanner.find(bytes)).map(({ canary }) => canary)),
];

/** Made by other means than the scanner's own, so that the two check each other. */
const places: { readonly [name: string]: Uint8Array | string } = {
  plain: `Authorization: Bearer ${secret}`,
  "UTF-16": Buffer.from(`a${secret}z`, "utf16le"),
  "UTF-16 with the high byte first": Buffer.from(`a${secret}z`, "utf16le").swap16(),
  JSON: JSON.stringify({ error: `Bad key ${secret}` }),
  "JSON in JSON": JSON.stringify({ body: JSON.stringify({ error: secret }) }),
  "JSON with escaped slashes": JSON.stringify({ error: secret }).replaceAll("/", "\\/"),
  "a URL": `/v1?key=${encodeURIComponent(secret)}&next=1`,
  "a URL with small digits": encodeURIComponent(secret).replace(/%../g, (hex) => hex.toLowerCase()),
  "a form": new URLSearchParams({ before: "x", key: secret }).toString(),
  hexadecimal: Buffer.from(`x${secret}`).toString("hex"),
  "hexadecimal in capitals": Buffer.from(`x${secret}`).toString("hex").toUpperCase(),
  base64: Buffer.from(`${secret} and more`).toString("base64"),
  "base64, one byte further": Buffer.from(`a${secret}z`).toString("base64"),
  "base64, two bytes further": Buffer.from(`ab${secret}z`).toString("base64"),
  "base64 for URLs": Buffer.from(`user:${secret}`).toString("base64url"),
  "base64 of JSON": Buffer.from(JSON.stringify({ key: secret })).toString("base64"),
  "base64 of UTF-16": Buffer.from(secret, "utf16le").toString("base64"),
  "base64 in a URL": encodeURIComponent(Buffer.from(`??${secret}`).toString("base64")),
  "its beginning": `${secret.slice(0, 12)}...`,
  "its end": `...${secret.slice(-12)}`,
  gzip: gzipSync(`before ${secret} after`),
  "gzip between other bytes": Buffer.concat([Buffer.from("in front"), gzipSync(secret), Buffer.from("and behind")]),
  "gzip that breaks off": gzipSync(`${secret}${"filled ".repeat(50_000)}${Math.PI}`).subarray(0, -20),
  "gzip in gzip": gzipSync(Buffer.concat([Buffer.from("x"), gzipSync(JSON.stringify(secret))])),
  "gzip in base64": JSON.stringify({ body: gzipSync(secret).toString("base64") }),
};

describe("a scanner of canaries", () => {
  it.each(Object.entries(places))("finds one in %s", async (_, bytes) => {
    expect(await names(bytes)).toEqual(["the key"]);
  });

  it("finds every form that it names, and each canary by its own name", async () => {
    const both = canaryScanner([
      { name: "one", text: secret },
      { name: "two", text: "another-canary/7" },
    ]);
    for (const [name, text] of [
      ["one", secret],
      ["two", "another-canary/7"],
    ] as const)
      for (const form of canaryForms(text)) {
        const found = await both.find(Buffer.concat([Buffer.from("before "), form.bytes, Buffer.from(" after")]));
        expect(found, form.name).toContainEqual({ canary: name, form: form.name });
        expect(new Set(found.map(({ canary }) => canary))).toEqual(new Set([name]));
      }
  });

  it.each([
    ["other words", "sk-CANAR and sk-OTHER, /w=9"],
    ["a part that is shorter than what counts", `${secret.slice(0, 11)}...${secret.slice(-11)}`],
    ["nothing", ""],
    ["bytes that begin like gzip", Buffer.from([1, 0x1f, 0x8b, 0x08, 0xff, 7])],
    ["letters that begin like gzip in base64", "H4sI"],
  ])("finds nothing in %s", async (_, bytes) => {
    expect(await scanner.find(bytes)).toEqual([]);
  });

  it("finds no part of a canary whose parts do not count", async () => {
    expect(await canaryScanner([{ name: "whole", text: secret }]).find(secret.slice(0, -1))).toEqual([]);
  });

  it("finds one that comes in pieces of any size", () => {
    const bytes = Buffer.from(`before ${JSON.stringify(secret)} and after`);
    for (const size of [1, 2, 7, 30]) {
      const stream = scanner.stream();
      const found = new Set<string>();
      for (let at = 0; at < bytes.length; at += size)
        for (const { canary } of stream.receive(bytes.subarray(at, at + size))) found.add(canary);
      expect([...found]).toEqual(["the key"]);
      stream.receive("-".repeat(2_000));
      expect(stream.receive("nothing of it is left")).toEqual([]);
    }
  });
});
