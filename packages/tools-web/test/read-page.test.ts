import { describe, expect, it } from "vitest";
import { type PageFormat, readPage } from "../src/page/read-page.ts";
import { defaultWebLimits, type WebLimits } from "../src/web-limits.ts";

interface Given {
  readonly type?: string;
  readonly charset?: string;
  readonly format?: PageFormat;
  readonly limits?: Partial<WebLimits>;
}

function read(body: string | Uint8Array, { type = "text/html", charset, format = "markdown", limits }: Given = {}) {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const fetched = { url: new URL("https://good.example/a/b"), status: 200, contentType: type, charset, bytes, isCut: false };
  return readPage(fetched, format, { ...defaultWebLimits, ...limits });
}

const sentence = "The lighthouse was built in 1911, of granite, by people of the village, and it is 43 metres high. ";

describe("reading a page (B100)", () => {
  it("gives the article without navigation, scripts and remote images, and the links of all of it", () => {
    const page = read(`<!doctype html><html lang=en><head><title>The  lighthouse</title><base href="/docs/">
      <link rel="canonical" href="/docs/lighthouse"><meta name="author" content="Ann"></head>
      <body><nav><a href="/home">Home</a> <a href="https://other.example/x#part">Other</a></nav><article><h1>The lighthouse</h1>
      <p>${sentence.repeat(3)}</p><p>See <a href="keeper">the <b>keeper</b></a> and <img src="https://evil.example/pixel?id=1" alt="a view">.</p>
      <p>${sentence.repeat(3)}</p></article><script>alert(1)</script><footer><a href="javascript:alert(1)">No</a></footer></body></html>`);
    expect(page.title).toBe("The lighthouse");
    expect(page.canonicalUrl).toBe("https://good.example/docs/lighthouse");
    expect(page.text).toContain("See [the **keeper**](https://good.example/docs/keeper) and (image: a view) .");
    expect(page.text).not.toMatch(/Home|alert|pixel|javascript/);
    expect(page.links.map(({ url }) => url)).toEqual([
      "https://good.example/home",
      "https://other.example/x",
      "https://good.example/docs/keeper",
    ]);
  });

  it("keeps headings, lists, tables, code and quotes as Markdown, and gives words alone as text", () => {
    const body = `<h2>Parts</h2><ul><li>one<ol><li>deep</li></ol></li><li><code>two</code></li></ul>
      <table><tr><th>Name</th><th>Size</th></tr><tr><td>a|b</td><td>1</td></tr></table><pre>let a = 1;\n  \`\`\`\n</pre>
      <blockquote><p>First.</p><p>Second.</p></blockquote><p>line<br>break</p>`;
    expect(read(body).text).toBe(
      [
        "## Parts\n\n- one\n  1. deep\n- `two`\n\n| Name | Size |\n| --- | --- |\n| a\\|b | 1 |",
        "````\nlet a = 1;\n  ```\n````\n\n> First.\n>\n> Second.\n\nline\nbreak",
      ].join("\n\n"),
    );
    expect(read(body, { format: "text" }).text).toMatch(/^Parts\n\n- one/);
    expect(read(body, { format: "text" }).text).not.toMatch(/^[#>]|- `|---|\\/m);
  });

  it("leaves out what people cannot see: hidden elements, comments, characters without width (F12)", () => {
    const page = read(`<p>Seen.<!-- hidden1 --></p><div hidden>hidden2</div><p style="color:red; Display : none">hidden3</p>
      <span aria-hidden="true">hidden4</span><p style="font-size:0px">hidden5</p><p style="opacity:0.5">half</p><template>hidden6</template>
      <p>a\u200bb\u202ec\u{e0041}d</p>`);
    expect(page.text).toBe("Seen.\n\nhalf\n\nabcd");
  });

  it("reads text, JSON and feeds as they are, and charsets by mark, header and `<meta>`", () => {
    expect(read('{"a":1}\r\n', { type: "application/json" }).text).toBe('{"a":1}\n');
    expect(read(Buffer.from("caf\xe9", "latin1"), { type: "text/plain", charset: "ISO-8859-1" }).text).toBe("café");
    expect(read(Buffer.from('<meta charset="windows-1252"><p>caf\xe9', "latin1")).text).toBe("café");
    expect(read(Buffer.from("\ufeffcafé", "utf16le"), { type: "text/plain", charset: "utf-8" }).text).toBe("café");
    expect(read(Buffer.from([0x63, 0xff]), { type: "text/plain", charset: "none-such" }).text).toBe("c\ufffd");
  });

  it("does not let a page claim to be of another site", () => {
    expect(read('<link rel="canonical" href="https://bank.example/">text').canonicalUrl).toBe("https://good.example/a/b");
  });

  it.each([
    ["20,000 levels", "<div>".repeat(20_000), ""],
    ["9,000 list items that are never closed", "<ul>".concat("<li>x".repeat(9_000)), "- x"],
    ["100,000 links within links", "<a href=/a>".repeat(100_000), ""],
    ["1 MB of brackets", "<".repeat(1_000_000), "<<<"],
    ["1,000,000 ticks", `<pre>${"` ".repeat(300_000)}</pre>`, "```"],
    ["5,000 tables", "<table>".repeat(5_000), ""],
    ["names of elements that are no names", "<a%b><1><x-y z><svg:a>text</x-y>", ""],
    ["nothing", "", ""],
  ])("survives %s", (_, body, start) => {
    expect(read(`${body}end`).text.startsWith(start)).toBe(true);
  });

  it("loses structure and no words beyond its limits", () => {
    const { text } = read(`<ul>${"<li>x</li>".repeat(50)}</ul>`, { limits: { elementsMax: 10 } });
    expect(text.match(/x/g)).toHaveLength(50);
    expect(text.match(/- x/g)).toHaveLength(10);
    expect(read("<p>ab</p><p>cd</p>", { limits: { htmlCharactersMax: 12 } }).text).toBe("ab");
  });
});
