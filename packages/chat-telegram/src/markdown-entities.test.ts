import { describe, expect, it } from "vitest";
import { markdownEntities } from "./markdown-entities.ts";

describe("markdownEntities", () => {
  it.each([
    ["a **b** _c_ ~~d~~ `e`", "a b c d e", ["bold b", "italic c", "strikethrough d", "code e"]],
    ["# Title\n\ntext", "Title\n\ntext", ["bold Title"]],
    ["```ts\nconst a = 1;\n```", "const a = 1;", ["pre const a = 1;"]],
    ["- one\n- two\n  1. three", "• one\n• two\n  1. three", []],
    ["- [x] done\n- [ ] open", "• ☑ done\n• ☐ open", []],
    ["> quoted **loud**", "quoted loud", ["bold loud", "blockquote quoted loud"]],
    ["[page](https://example.org/a) [bad](javascript:alert(1))", "page [bad](javascript:alert(1))", ["text_link page"]],
    ["<b>not</b> *unclosed **marks", "<b>not</b> *unclosed **marks", []],
    ["| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |", ["pre | a | b |\n|---|---|\n| 1 | 2 |"]],
    ["😀 **b**", "😀 b", ["bold b"]],
    ["a & b < c \\* d", "a & b < c * d", []],
  ] as const)("shows %j as a text with stretches", (markdown, text, stretches) => {
    const marked = markdownEntities(markdown);
    expect(marked.text).toBe(text);
    expect(marked.entities.map(({ type, offset, length }) => `${type} ${marked.text.slice(offset, offset + length)}`)).toEqual(stretches);
  });
});
