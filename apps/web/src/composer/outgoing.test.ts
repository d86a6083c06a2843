import { expect, it } from "vitest";
import { isSendable, mediaTypeOf, messageOf, sizeLabel } from "./outgoing.ts";

it("words without files are plain text, without the white space around them", () => {
  expect(messageOf({ text: " hello \n", files: [] })).toEqual({ role: "user", content: "hello" });
});

it("pictures and files follow the words in their order", () => {
  const files = [
    { blob: "1", mediaType: "image/png", name: "a.png", sizeBytes: 1 },
    { blob: "2", mediaType: "application/pdf", name: "b.pdf", sizeBytes: 1 },
    { blob: "3", mediaType: "image/svg+xml", sizeBytes: 1 },
  ];
  expect(messageOf({ text: "look", files }).content).toEqual([
    { type: "text", text: "look" },
    { type: "image", mediaType: "image/png", source: { blob: "1" } },
    { type: "file", mediaType: "application/pdf", name: "b.pdf", source: { blob: "2" } },
    { type: "file", mediaType: "image/svg+xml", source: { blob: "3" } },
  ]);
  expect(messageOf({ text: " ", files: files.slice(0, 1) }).content).toHaveLength(1);
});

it("white space alone is nothing to send, a file alone is", () => {
  expect(isSendable({ text: " \n", files: [] })).toBe(false);
  expect(isSendable({ text: "", files: [{ blob: "1", mediaType: "text/plain", sizeBytes: 1 }] })).toBe(true);
});

it("source code is text, whatever the browser takes it for", () => {
  expect(mediaTypeOf({ name: "a.ts", type: "video/mp2t" })).toBe("text/plain");
  expect(mediaTypeOf({ name: "Makefile.log", type: "" })).toBe("text/plain");
  expect(mediaTypeOf({ name: "x.bin", type: "" })).toBe("application/octet-stream");
  expect(mediaTypeOf({ name: "x.txt", type: "text/plain;charset=utf-8" })).toBe("text/plain");
});

it("sizes are written as people read them", () => {
  expect([0, 1, 999, 1500, 250_000, 10_485_760].map(sizeLabel)).toEqual(["0 bytes", "1 byte", "999 bytes", "1.5 kB", "250 kB", "10.5 MB"]);
});
