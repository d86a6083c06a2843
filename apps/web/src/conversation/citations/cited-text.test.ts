import { expect, it } from "vitest";
import { citedClaimsIn } from "./cited-report.ts";
import { citationPlace, citedText } from "./cited-text.ts";

const [lisbon, tagus] = ["https://a.example/lisbon", "https://b.example/"];
const report = `# Ports\n\n## Lisbon\n\n- Lisbon has a port. [1] [2]\n- It is large. [2]\n\n## Sources\n\n1. [Lisbon "the city"](${lisbon})\n2. [Tagus](${tagus})`;

it("the numbers of a line become one link, beside which stand the sources that it names", () => {
  const { text, citations } = citedText(report);
  expect(text).toContain("- Lisbon has a port. [1, 2](citation:0)\n- It is large. [2](citation:1)\n");
  expect(text.endsWith(`2. [Tagus](${tagus})`)).toBe(true);
  const [one, two] = [
    { number: "1", title: 'Lisbon "the city"', url: lisbon, isRead: false },
    { number: "2", title: "Tagus", url: tagus, isRead: false },
  ];
  expect(citations).toEqual([[one, two], [two]]);
  expect([citationPlace("citation:0"), citationPlace("citation:x"), citationPlace("https://citation:0/")]).toEqual([
    0,
    undefined,
    undefined,
  ]);
});

it("a claim has the passages that the report has of it, and no other claim has them", () => {
  const claims = citedClaimsIn({
    sections: [
      {
        claims: [
          {
            text: "Lisbon has a port.",
            citations: [
              { url: tagus, title: "Tagus", quote: "The port lies there." },
              { url: lisbon, title: "x" },
            ],
          },
        ],
      },
    ],
  });
  const { citations } = citedText(report, claims);
  expect(citations.map((group) => group.map(({ number, isRead, quote }) => [number, isRead, quote]))).toEqual([
    [
      ["1", true, undefined],
      ["2", true, "The port lies there."],
    ],
    [["2", false, undefined]],
  ]);
});

it("a number without a source, a text without sources, and numbers inside a line stay as they are", () => {
  expect(citedText("- A claim. [3]\n\n## Sources\n\n1. [A](https://a.example)").text).toContain("- A claim. [3]\n");
  expect(citedText("- A list[0] of things. [1]")).toEqual({ text: "- A list[0] of things. [1]", citations: [] });
  expect(citedText(report.replace("large. [2]", "large [2] indeed.")).text).toContain("- It is large [2] indeed.");
});

it.each([
  undefined,
  null,
  1,
  "x",
  [],
  {},
  { sections: 1 },
  { sections: [null, { claims: "x" }, { claims: [1, { text: "a", citations: [{}] }] }] },
])("details of any shape give claims or nothing: %j", (details) => expect(citedClaimsIn(details)).toBeUndefined());
