import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { widthOf } from "../terminal/lines.ts";
import { createStyle } from "../terminal/style.ts";
import { createMarkdownStream } from "./markdown-stream.ts";

const frame = { width: 40, style: createStyle(false) };

const document = `# Title

A paragraph with **bold words**, *emphasis*, \`code\`, ~~gone~~ and a [link](https://example.com/a) that is
longer than one line, then  
a hard break.

- one
- two with a second
  line
  - nested **deep**

1. first

   with a paragraph
2. second

| a | b |
|:--|--:|
| long cell that has to be broken | 1 |
| x | 22 |

\`\`\`ts
const a = 1;

  // blank lines and indents stay
\`\`\`
> quoted \`text\`
> goes on

- [x] done
- [ ] open

~~~
unclosed fence with \`\`\` inside`;

function linesOf(text: string, size: number, liveMax = 1_000): readonly string[] {
  const stream = createMarkdownStream();
  const lines: string[] = [];
  for (let from = 0; from < text.length; from += size) {
    stream.push(text.slice(from, from + size));
    lines.push(...stream.take(frame, liveMax).finished);
  }
  return [...lines, ...stream.end(frame)];
}

test("a document is drawn as lines", () => {
  expect(linesOf(document, document.length).join("\n")).toBe(`# Title

A paragraph with bold words, emphasis,
\`code\`, gone and a link
(https://example.com/a) that is longer
than one line, then
a hard break.

• one
• two with a second line
  • nested deep

1. first

   with a paragraph

2. second

a                               │  b
────────────────────────────────┼───
long cell that has to be broken │  1
x                               │ 22

  ts
  const a = 1;

    // blank lines and indents stay

│ quoted \`text\` goes on

• [x] done
• [ ] open

  unclosed fence with \`\`\` inside`);
});

test("the finished lines are the same however the text was cut", () => {
  const whole = linesOf(document, document.length);
  for (const size of [1, 2, 3, 5, 8, 13, 21, 34, 55]) expect(linesOf(document, size)).toEqual(whole);
});

test("lines of a code block are finished as soon as they end", () => {
  const stream = createMarkdownStream();
  stream.push("```\none\ntw");
  expect(stream.take(frame, 10)).toEqual({ finished: ["  one"], live: ["  tw"] });
});

test("a paragraph is live until a blank line comes", () => {
  const stream = createMarkdownStream();
  stream.push("one two");
  expect(stream.take(frame, 10)).toEqual({ finished: [], live: ["one two"] });
  stream.push(" three\n\n");
  expect(stream.take(frame, 10)).toEqual({ finished: ["one two three"], live: [] });
});

test("what does not fit the live lines is written out, and no line is lost or written twice", () => {
  const words = Array.from({ length: 300 }, (_, at) => `w${at}`);
  for (const size of [1, 7, 50]) {
    const all = linesOf(words.join(" "), size, 3);
    expect(all.join(" ").split(/\s+/)).toEqual(words);
  }
});

test("no line is wider than the frame, whatever it holds", () => {
  const wide = `${"x".repeat(200)} 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 🌱🌱\n\n| ${"a".repeat(90)} | ${"b ".repeat(60)} |\n|--|--|\n| c | d |\n\n- ${"y".repeat(99)}\n`;
  for (const line of linesOf(wide, 9)) expect(widthOf(line)).toBeLessThanOrEqual(frame.width);
});

test("styles never reach over a line", () => {
  const stream = createMarkdownStream();
  stream.push(`**${"bold ".repeat(30)}** and *${"leaning ".repeat(20)}*`);
  const lines = stream.end({ width: 20, style: createStyle(true) });
  for (const line of lines) expect(line.split("\u001b[1m").length).toBe(line.split("\u001b[22m").length);
  expect(lines.length).toBeGreaterThan(10);
});

test("HTML and entities are text", () => {
  expect(linesOf("<b>x</b> &lt;y&gt; &amp;\n\n<div>\nz\n</div>\n", 3).map(stripVTControlCharacters)).toEqual([
    "<b>x</b> <y> &",
    "",
    "<div>",
    "z",
    "</div>",
  ]);
});

test("a link always shows where it leads", () => {
  expect(linesOf("[bank](https://evil.example) https://a.example", 99)).toEqual(["bank (https://evil.example)", "https://a.example"]);
});
