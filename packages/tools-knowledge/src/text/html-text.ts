/** Elements whose content is no text of the page. */
const silent: ReadonlySet<string> = new Set(["script", "style", "noscript", "template", "svg", "iframe", "object"]);

/** Elements that end a line. */
const blocks: ReadonlySet<string> = new Set(
  "address article aside blockquote br caption dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody tfoot thead tr ul".split(
    " ",
  ),
);

const entities: { readonly [name: string]: string } = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  mdash: "—",
  ndash: "–",
  hellip: "…",
  copy: "©",
  euro: "€",
  laquo: "«",
  raquo: "»",
};

/** What a page of HTML shows as text, one line for each block, and its title. Reads each character once, whatever the page holds. */
export function htmlText(html: string): { readonly text: string; readonly title: string | undefined } {
  const reader = new PageReader(html);
  reader.read();
  return { text: tidy(reader.text), title: tidy(reader.title) || undefined };
}

class PageReader {
  readonly #html: string;
  #at = 0;
  text = "";
  title = "";
  #isTitle = false;

  constructor(html: string) {
    this.#html = html;
  }

  read(): void {
    while (this.#at < this.#html.length) {
      const open = this.#html.indexOf("<", this.#at);
      const end = open < 0 ? this.#html.length : open;
      this.#add(decoded(this.#html.slice(this.#at, end)));
      this.#at = end;
      if (open >= 0) this.#tag();
    }
  }

  #add(text: string): void {
    if (this.#isTitle) this.title += text;
    else this.text += text;
  }

  /** Reads what begins with `<`. */
  #tag(): void {
    const head = this.#html.slice(this.#at, this.#at + 40);
    const [, slash = "", name] = /^<(\/?)([a-zA-Z][a-zA-Z0-9]*)/.exec(head) ?? [];
    if (name !== undefined) this.#element(name.toLowerCase(), slash === "");
    else if (head.startsWith("<!--")) this.#skipTo("-->");
    // A declaration, or the end of an element without a name.
    else if (/^<[!?/]/.test(head)) this.#skipTo(">");
    else {
      this.#add("<");
      this.#at++;
    }
  }

  #element(tag: string, isBeginning: boolean): void {
    this.#skipTag();
    if (tag === "title") this.#isTitle = isBeginning;
    else if (blocks.has(tag)) this.#add("\n");
    else if ((tag === "td" || tag === "th") && isBeginning) this.#add("\t");
    else if (silent.has(tag) && isBeginning) this.#skipElement(tag);
  }

  /** Behind the end of a tag; a `>` in a quoted attribute does not end it. */
  #skipTag(): void {
    let quote = "";
    for (this.#at++; this.#at < this.#html.length; this.#at++) {
      const letter = this.#html[this.#at] ?? "";
      if (quote !== "") {
        if (letter === quote) quote = "";
      } else if (letter === '"' || letter === "'") quote = letter;
      else if (letter === ">") break;
    }
    this.#at++;
  }

  #skipElement(tag: string): void {
    const end = new RegExp(`</${tag}\\b`, "gi");
    end.lastIndex = this.#at;
    this.#at = end.exec(this.#html)?.index ?? this.#html.length;
  }

  #skipTo(mark: string): void {
    const found = this.#html.indexOf(mark, this.#at);
    this.#at = found < 0 ? this.#html.length : found + mark.length;
  }
}

function decoded(text: string): string {
  return text.replace(/&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});/g, characterOf);
}

/** What an entity such as `&amp;`, `&#65;` or `&#x41;` means; itself where it means nothing. */
function characterOf(entity: string): string {
  const name = entity.slice(1, -1);
  if (!name.startsWith("#")) return (Object.hasOwn(entities, name) ? entities[name] : undefined) ?? entity;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : entity;
}

function tidy(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(/[^\S\t]+/g, " ").trim());
  return lines
    .filter((line, at) => line !== "" || (lines[at - 1] ?? "") !== "")
    .join("\n")
    .trim();
}
