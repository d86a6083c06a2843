import { describe, expect, it } from "vitest";
import { parseSkill } from "../src/index.ts";
import { skillText } from "./folder.ts";

const toolBody = [
  "Intro.",
  "",
  "## Tool: find_order",
  "",
  "Finds an order",
  "by its number.",
  "",
  "| name | type | required | description |",
  "|---|---|---|---|",
  "| `number` | integer | yes | of the order |",
  "| note | string | no | |",
  "",
  "**Output:**",
  "",
  "| name | type |",
  "|---|---|",
  "| total | number |",
  "",
  "```",
  "## Tool: not_one",
  "```",
  "",
  "## Notes",
  "",
  "More.",
].join("\n");

describe("parseSkill", () => {
  it("reads what the open format has, and what it does not know is left alone", () => {
    const more =
      'license: MIT\ncompatibility: Needs jq\nallowed-tools: Bash(jq:*) Read\nicon: box\nmetadata:\n  author: acme\n  version: "1.0"\n';
    expect(parseSkill(skillText("orders", { more }), "here")).toMatchObject({
      name: "orders",
      description: "About orders.",
      body: "Do it.",
      tools: [],
      egress: [],
      needs: { binaries: [], required: [], oneOf: [], optional: [] },
    });
  });

  it("makes a tool of each heading, with the schema of its first table", () => {
    expect(parseSkill(skillText("orders", { body: toolBody }), "here").tools).toEqual([
      {
        name: "find_order",
        description: "Finds an order by its number.",
        parameters: {
          type: "object",
          properties: { number: { type: "integer", description: "of the order" }, note: { type: "string" } },
          required: ["number"],
          additionalProperties: false,
        },
      },
    ]);
  });

  it("reads what it needs, where its scripts reach, and what it forbids", () => {
    const more = [
      "metadata:",
      "  loopwright:",
      "    binaries: [jq]",
      "    variables: { required: [A_KEY], one_of: [[B, C]], optional: [D] }",
      "    egress: [api.example.com, '*.example.org']",
      "    duration_ms: 5000",
      "    guardrails:",
      "      deny_commands: ['rm -rf']",
      "      deny_output: [{ pattern: secret, action: redact }]",
      "",
    ].join("\n");
    expect(parseSkill(skillText("orders", { more }), "here")).toMatchObject({
      needs: { binaries: ["jq"], required: ["A_KEY"], oneOf: [["B", "C"]], optional: ["D"] },
      egress: ["api.example.com", "*.example.org"],
      durationMs: 5_000,
      rules: {
        denyCommands: [{ pattern: "rm -rf" }],
        denyOutput: [{ pattern: "secret", action: "redact" }],
        denyPrompts: [],
        denyResponses: [],
      },
    });
  });

  it.each([
    ["no front matter", "# Orders", "does not begin with a front matter"],
    ["a name in capitals", "---\nname: Orders\ndescription: x\n---\n", "`name`"],
    ["two hyphens", "---\nname: a--b\ndescription: x\n---\n", "`name`"],
    ["a name of 65 letters", `---\nname: ${"a".repeat(65)}\ndescription: x\n---\n`, "`name`"],
    ["no description", "---\nname: a\n---\n", "`description`"],
    ["a description of 1,025 characters", `---\nname: a\ndescription: ${"x".repeat(1_025)}\n---\n`, "`description`"],
    ["a compatibility of 501 characters", skillText("a", { more: `compatibility: ${"x".repeat(501)}\n` }), "`compatibility`"],
    ["broken YAML", "---\nname: [a\n---\n", "no YAML"],
    ["an alias", skillText("a", { more: "x: &x [1]\ny: *x\n" }), "aliases"],
    ["an unknown member of ours", skillText("a", { more: "metadata: { loopwright: { binary: [jq] } }\n" }), "metadata.loopwright"],
    ["a URL for a domain", skillText("a", { more: "metadata: { loopwright: { egress: ['https://x.y'] } }\n" }), "egress.0"],
    ["a tool without description", skillText("a", { body: "## Tool: x" }), "no description"],
    ["a tool twice", skillText("a", { body: "## Tool: x\nOne.\n## Tool: x\nTwo." }), "`x` twice"],
    ["a tool with an odd name", skillText("a", { body: "## Tool: x y\nOne." }), '"x y"'],
    ["an input of an unknown type", skillText("a", { body: "## Tool: x\nOne.\n\n| name | type |\n|---|---|\n| a | date |" }), "date"],
    [
      "a table without names",
      skillText("a", { body: "## Tool: x\nOne.\n\n| what | type |\n|---|---|\n| a | string |" }),
      "no column `name`",
    ],
    ["90,001 characters", skillText("a", { body: "x".repeat(90_001) }), "90000 characters"],
  ])("refuses %s and states the place", (_, text, message) => {
    expect(() => parseSkill(text, "`skills/a/SKILL.md`")).toThrow(message);
    expect(() => parseSkill(text, "`skills/a/SKILL.md`")).toThrow("`skills/a/SKILL.md`");
  });
});
