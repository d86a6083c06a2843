import { describe, expect, it } from "vitest";
import { type RichText, richText } from "./rich-text.ts";

/** One line per element: its kind, and its stretches with their styles. */
function shown({ elements }: RichText): readonly string[] {
  const words = (of: RichText["elements"][number]): string =>
    of.type === "rich_text_list"
      ? of.elements.map(words).join(" / ")
      : of.elements
          .map(({ text, style = {}, url }) => [text, ...Object.keys(style), ...(url === undefined ? [] : [url])].join("|"))
          .join("+");
  return elements.map((one) => {
    const kind = one.type === "rich_text_list" ? `${one.style}${one.indent}${one.offset === undefined ? "" : `@${one.offset}`}` : one.type;
    return `${kind.replace("rich_text_", "")}: ${words(one)}`;
  });
}

describe("richText", () => {
  it.each([
    ["a **b** _c_ ~~d~~ `e`", ["section: a +b|bold+ +c|italic+ +d|strike+ +e|code"]],
    ["# Title\n\ntext", ["section: Title|bold+\n\n+text"]],
    ["one\n\ntwo\n\n", ["section: one+\n\n+two"]],
    ["text\n```ts\nconst a = 1;\n```\nmore", ["section: text", "preformatted: const a = 1;", "section: more"]],
    ["- one\n- two\n  1. three\n  2. four\n- five", ["bullet0: one / two", "ordered1: three / four", "bullet0: five"]],
    ["3. three\n4. four", ["ordered0@2: three / four"]],
    ["- [x] done\n- [ ] open", ["bullet0: ☑ +done / ☐ +open"]],
    ["- one\n\n  ```\n  code\n  ```\n- two", ["bullet0: one", "preformatted: code", "bullet0: two"]],
    ["> quoted **loud**\n> - item", ["quote: quoted +loud|bold+\n\n+• +item"]],
    ["[page](https://example.org/a) [bad](javascript:alert(1))", ["section: page|https://example.org/a+ +[bad](javascript:alert(1))"]],
    ["<!channel> <@U1> *unclosed **marks", ["section: <!channel> <@U1> *unclosed **marks"]],
    ["| a | b |\n|---|---|\n| 1 | 2 |", ["preformatted: | a | b |\n|---|---|\n| 1 | 2 |"]],
    ["```\n```", ["section: ```\n```"]],
    ["-", ["bullet0:  "]],
  ] as const)("shows %j as elements", (markdown, elements) => {
    expect(shown(richText(markdown))).toEqual(elements);
  });
});
