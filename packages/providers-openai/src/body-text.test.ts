import { expect, test } from "vitest";
import { bodyText } from "./body-text.ts";

test("is what JSON.stringify writes, for a body that was never seen and for one that was", () => {
  const message = { role: "user", content: 'a "quoted" line\n\u2028 and an emoji \u{1f600}' };
  const body = { model: "m", messages: [message, { role: "assistant", content: null }, "odd", 7], stream: true, tools: [{ a: 1 }] };
  expect(bodyText(body)).toBe(JSON.stringify(body));
  expect(bodyText({ ...body, messages: [...body.messages, message] })).toBe(
    JSON.stringify({ ...body, messages: [...body.messages, message] }),
  );
  expect(bodyText({ model: "m", input: "only text" })).toBe('{"model":"m","input":"only text"}');
});

test("leaves members out that are not defined", () => {
  const body: Record<string, never> = {};
  Object.assign(body, { model: "m", temperature: undefined });
  expect(bodyText(body)).toBe('{"model":"m"}');
});

test("does not write a message again that was sent before", () => {
  let written = 0;
  const message = {
    get role() {
      written++;
      return "user";
    },
  };
  bodyText({ messages: [message] });
  bodyText({ messages: [message, message] });
  expect(written).toBe(1);
});
