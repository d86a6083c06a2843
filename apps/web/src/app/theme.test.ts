import { expect, it } from "vitest";
import { passingText } from "./kept-text.ts";
import { createThemeChoice } from "./theme.ts";

it("a chosen theme is shown and kept, and the system's leaves nothing behind", () => {
  const kept = passingText();
  const root = { dataset: {} as DOMStringMap };
  const theme = createThemeChoice(kept, root);
  theme.choose("dark");
  expect([root.dataset["theme"], kept.get("theme")]).toEqual(["dark", "dark"]);
  expect(createThemeChoice(kept, { dataset: {} }).read()).toBe("dark");
  theme.choose("system");
  expect([root.dataset["theme"], kept.get("theme"), theme.read()]).toEqual([undefined, undefined, "system"]);
});

it("an unknown theme is the system's", () => {
  const kept = passingText();
  kept.set("theme", "purple");
  expect(createThemeChoice(kept, { dataset: {} }).read()).toBe("system");
});
