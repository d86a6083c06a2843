import type { SessionView, ViewMessage } from "@loopwright/client";
import { expect, it } from "vitest";
import { titleOf } from "./title-of.ts";

const written = (id: string, content: string): readonly [string, ViewMessage] => [
  id,
  { id, parent: null, runId: "r", at: 0, message: { role: "user", content } },
];
const messages: SessionView["messages"] = new Map([written("3", "  Hello\n there "), written("8", "Hello, edited")]);

it("a session without a title is called as in the list: by its first message, on every branch", () => {
  expect(titleOf({ messages })).toBe("Hello there");
  expect(titleOf({ title: "", messages })).toBe("Hello there");
});

it("a given title goes before, and an empty session has a name too", () => {
  expect(titleOf({ title: "My chat", messages })).toBe("My chat");
  expect(titleOf({ messages: new Map() })).toBe("New conversation");
});
