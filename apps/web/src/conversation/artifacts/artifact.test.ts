import { expect, it } from "vitest";
import { artifactIn, artifactsOf, writtenArtifact } from "./artifact.ts";

const whole = JSON.stringify({
  title: 'A "quoted" title',
  kind: "code",
  edits: [{ content: "no" }],
  content: 'let a = "\\n";\n\u00e4\ud83d\ude00{[',
});

it("arguments that are cut anywhere give the beginning of the text, and never anything else", () => {
  const { content } = JSON.parse(whole) as { readonly content: string };
  for (let end = 0; end <= whole.length; end++) {
    const written = writtenArtifact(whole.slice(0, end));
    if (written.content !== undefined) expect(content.startsWith(written.content.replace(/[\ud800-\udbff]$/, "")), `${end}`).toBe(true);
    if (written.title !== undefined) expect('A "quoted" title'.startsWith(written.title)).toBe(true);
  }
  expect(writtenArtifact(whole)).toEqual({ title: 'A "quoted" title', content });
});

it("details of any shape give an artifact or nothing", () => {
  for (const details of [
    undefined,
    null,
    1,
    "x",
    [],
    {},
    { artifact: null },
    { artifact: [] },
    { artifact: { id: "a", version: "1", content: "x" } },
  ])
    expect(artifactIn(details)).toBeUndefined();
  expect(artifactIn({ artifact: { id: "a", version: 1, content: "x", kind: "odd" } })).toEqual({
    ...{ id: "a", version: 1, content: "x", title: "a", kind: "text" },
  });
});

it("versions of an artifact stand together, and results of other tools count for nothing", () => {
  const result = (toolName: string, id: string, version: number) => ({
    message: {
      role: "tool_result" as const,
      toolCallId: "c",
      toolName,
      content: "",
      details: { artifact: { id, version, title: id, kind: "text", content: `${version}` } },
    },
  });
  const path = [result("craft_tool", "a", 1), result("craft_tool", "b", 1), result("craft_tool", "a", 2), result("other", "c", 1)];
  expect(artifactsOf(path).map(({ id, versions }) => [id, versions.length])).toEqual([
    ["a", 2],
    ["b", 1],
  ]);
});
