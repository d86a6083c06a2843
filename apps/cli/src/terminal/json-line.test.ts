import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { ephemeral } from "../../test/events.ts";
import { printJson } from "../commands/print-json.ts";
import { jsonLine } from "./json-line.ts";

/** Every character that a terminal acts upon or that reorders text, and some that are only letters. */
const hostile = Array.from({ length: 0x2100 }, (_, code) => String.fromCharCode(code)).join("");

test("a line of JSON holds no control character and no mark that reorders text, and is equal after parsing", () => {
  const value = { [hostile]: [hostile, "\u{1f331} \ud800"] };
  const line = jsonLine(value);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
  expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/);
  expect(line).toContain("\\u009b");
  expect(JSON.parse(line)).toEqual(value);
});

test("the events of `ask --json` are such lines", async () => {
  const event = ephemeral(1, "text_delta", { index: 0, delta: "a\u009b2J\u0085\u007f\u202e" });
  let written = "";
  const output = new Writable({
    write(chunk, _, done) {
      written += chunk;
      done();
    },
  });
  const events = (async function* () {
    yield event;
  })();
  await printJson(events, output);
  expect(written).toContain('"a\\u009b2J\\u0085\\u007f\\u202e"');
  expect(JSON.parse(written)).toEqual(event);
});
