import { describe, expect, it } from "vitest";
import { csvRows } from "../src/text/csv-rows.ts";
import { htmlText } from "../src/text/html-text.ts";
import { joinParts, splitText } from "../src/text/split-text.ts";

describe("passages of a text", () => {
  it("end at a heading, a paragraph, a line, a sentence or a word of their second half, the best there is", () => {
    const rest = "z".repeat(40);
    for (const [border, end] of [
      ["\n# ", ""],
      ["\n\n", ""],
      ["\n", ""],
      [". ", "."],
      [" ", ""],
    ] as const) {
      const [first] = splitText(`${"a".repeat(12)} ${"b".repeat(17)}${border}${rest}`, 40);
      expect(first).toBe(`${"a".repeat(12)} ${"b".repeat(17)}${end}`);
    }
  });

  it("hold all of the text, none is longer than the bound, and no character is cut", () => {
    const text = `${"😀".repeat(333)} ${"word ".repeat(300)}\n\n${"x".repeat(999)}`;
    for (const max of [100, 101, 250]) {
      const passages = splitText(text, max);
      expect(passages.every((passage) => passage.length <= max && passage.length > 0 && passage.isWellFormed())).toBe(true);
      expect(passages.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
    }
  });

  it("keep parts whole where they fit", () => {
    expect(joinParts(["a".repeat(60), "b".repeat(30), "c".repeat(30), "d".repeat(150)], 100)).toEqual([
      `${"a".repeat(60)}\n${"b".repeat(30)}`,
      "c".repeat(30),
      "d".repeat(100),
      "d".repeat(50),
    ]);
  });
});

describe("the text of HTML", () => {
  it.each([
    ["blocks as lines", "<div>a<br>b</div><ul><li>c<li>d</ul>", "a\nb\n\nc\nd"],
    ["cells apart", "<table><tr><td>a</td><td>b</td></tr></table>", "a\tb"],
    ["entities once", "&amp;lt; &#65;&#x42; &nbsp;&unknown; &#0; &#xD800;", "&lt; AB &unknown; &#0; &#xD800;"],
    ["no script, style or comment", "a<script>x</script><STYLE>p{}</STYLE><!-- <p>c</p> -->b", "ab"],
    ["attributes with a greater-than sign", '<a title="x > y">b</a>', "b"],
    ["a smaller-than sign", "1 < 2 <3", "1 < 2 <3"],
    ["what is never closed", "a<script>b", "a"],
    ["a tag that is never closed", "a<p title='b", "a"],
  ])("has %s", (_, html, text) => {
    expect(htmlText(html).text).toBe(text);
  });

  it("is read once, however hostile the page is", () => {
    for (const piece of ["<", "<a ", "<!--", "<script>", "&", "<p title='"]) {
      const html = piece.repeat(200_000);
      expect(htmlText(html).text.length).toBeLessThanOrEqual(html.length);
    }
  });
});

describe("the rows of a CSV", () => {
  it.each([
    ["quoted cells", 'a,b\n"x, ""y""\nz",2', ['a: x, "y"\nz; b: 2']],
    ["semicolons", "a;b\n1,5;2", ["a: 1,5; b: 2"]],
    ["tabs and line ends of Windows", "a\tb\r\n1\t2\r\n", ["a: 1; b: 2"]],
    ["cells without a name and empty cells", "a,,c\n1,2,\n\n,,3", ["a: 1; 2", "c: 3"]],
    ["a head alone", "a,b\n", ["a; b"]],
    ["nothing", "", []],
  ])("have %s", (_, csv, rows) => {
    expect(csvRows(csv)).toEqual(rows);
  });
});
