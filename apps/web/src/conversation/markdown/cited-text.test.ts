import { expect, it } from "vitest";
import { citedText } from "./cited-text.ts";

const report = `# Ports\n\n## Lisbon\n\n- Lisbon has a port. [1] [2]\n- It is large. [2]\n\n## Sources\n\n1. [Lisbon "the city"](https://a.example/lisbon)\n2. [Tagus](https://b.example/)`;

it("the numbers of a report lead to its sources, each with the title of its page", () => {
  const cited = citedText(report);
  expect(cited).toContain(
    `- Lisbon has a port. [\\[1\\]](<https://a.example/lisbon> "Source 1: Lisbon 'the city'") [\\[2\\]](<https://b.example/> "Source 2: Tagus")`,
  );
  expect(cited.endsWith("2. [Tagus](https://b.example/)")).toBe(true);
});

it("a number without a source, a text without sources, and numbers inside a line stay as they are", () => {
  expect(citedText("- A claim. [3]\n\n## Sources\n\n1. [A](https://a.example)")).toContain("- A claim. [3]\n");
  expect(citedText("- A list[0] of things. [1]")).toBe("- A list[0] of things. [1]");
  expect(citedText(report.replace("large. [2]", "large [2] indeed."))).toContain("- It is large [2] indeed.");
});
