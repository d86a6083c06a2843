import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { everyBlock, hostile } from "../../../test/harness/sample-text.ts";
import { Markdown } from "./markdown.tsx";

const drawn = (text: string, isOpen = false): string => renderToStaticMarkup(createElement(Markdown, { text, isOpen }));
/** Names of the elements in a text of HTML. */
const elements = (html: string): readonly string[] =>
  [...new Set([...html.matchAll(/<([a-z][a-z0-9]*)/g)].map(([, name = ""]) => name))].sort();

it("every kind of block becomes its own elements", () => {
  const html = drawn(everyBlock);
  for (const element of ["h3", "h4", "strong", "em", "del", "ol", "ul", "blockquote", "pre", "table", "hr", "sup"])
    expect(elements(html)).toContain(element);
  expect(html).toContain('<input type="checkbox" disabled="" aria-label="Done" checked=""/>');
  expect(html).toContain('aria-label="Code, ts"');
  expect(html).toContain('href="https://example.org/plan" target="_blank" rel="noopener noreferrer nofollow"');
});

it("HTML, scripts and addresses of a hostile text are words", () => {
  const html = drawn(`${hostile}\n\n\`\`\`html\n${hostile}\n\`\`\``);
  for (const element of ["script", "img", "a", "iframe"]) expect(elements(html)).not.toContain(element);
  // Signs are drawn, but none that the text brought.
  expect(html).not.toMatch(/<svg onload/);
  expect(html).not.toMatch(/<[a-z][^>]*\s(?:href|src|on\w+)=/);
  expect(html).toContain("&lt;/script&gt;&lt;img src=x onerror=");
});

it("signs that steer a terminal or the direction of writing are seen and do nothing", () => {
  const html = drawn("\u001b[31mred\u001b[0m \u202egnp.exe and `a\u2066b`");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be left
  expect(html).not.toMatch(/[\u001b\u202e\u2066]/);
  expect(html).toContain('title="U+001B">[ESC]</span>[31mred');
  expect(html).toContain("[RLO]");
  expect(html).toContain("[LRI]");
});

it("images of other origins are links, not loaded", () => {
  const html = drawn("![chart](https://example.org/p.png) and ![x](data:image/png;base64,iVBORw0KGgo=)");
  expect(html).toContain('href="https://example.org/p.png"');
  expect(html.match(/<img/g)).toHaveLength(1);
});

it("an address that is defined at the end of the text counts from its beginning", () => {
  expect(drawn("See [the plan][plan].\n\n- [item][plan]\n\n[plan]: https://example.org/plan")).toMatch(
    /(href="https:\/\/example\.org\/plan".*){2}/s,
  );
});

it("marks that are open at the end of a text that is being written are shown as closed", () => {
  expect(drawn("some **bold te", true)).toContain("<strong>bold te</strong>");
  expect(drawn("some **bold te", false)).not.toContain("<strong>");
  expect(drawn("see [the plan](https://exam", true)).not.toContain("exam");
  expect(drawn("call `fold(sta", true)).toContain('<code dir="ltr">fold(sta</code>');
});

it("a fence whose end is still to come is code", () => {
  expect(drawn("```js\nconst a = 1;\n\n# no heading", true)).not.toContain("<h3");
});

it("a text of ten thousand nested quotes or brackets is shown without breaking", () => {
  for (const text of [`${"> ".repeat(10_000)}deep`, "[".repeat(10_000), "*a ".repeat(5000), `${"- ".repeat(3000)}x`]) {
    expect(drawn(text).length).toBeGreaterThan(100);
  }
});

it("character references are read, and read once", () => {
  expect(drawn("a &lt;b&gt; &amp;lt; &nbsp;&#8364;&#x1F600;")).toContain("a &lt;b&gt; &amp;lt; \u00a0€😀");
  expect(drawn("`&lt;`")).toContain("&amp;lt;");
});

it("headings in a list are no part of the outline", () => {
  expect(drawn("- # in a list")).not.toMatch(/<h\d/);
});
