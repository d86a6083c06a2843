import { Parser } from "htmlparser2";
import { parseHTML } from "linkedom";
import type { WebLimits } from "../web-limits.ts";

/** A page without scripts, styles, hidden elements and comments, of bounded depth and size, however hostile its HTML is. */
export interface BoundedDocument {
  readonly document: Document;
  readonly canonical: string | undefined;
  readonly base: string | undefined;
  /** A limit was reached, so a part of the page has lost its structure. */
  readonly isFlattened: boolean;
}

type Document = ReturnType<typeof parseHTML>["document"];
type Element = ReturnType<Document["createElement"]>;

const dropped = new Set(
  "script style noscript template svg math iframe frame object embed applet canvas video audio source track select option button input textarea dialog".split(
    " ",
  ),
);
const ofHead = new Set(["title", "meta", "link", "base"]);
const kept = new Set("href alt title name content property rel class id lang itemprop role datetime".split(" "));
const hiddenStyle = /display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d]*[1-9])|font-size\s*:\s*0(?![.\d]*[1-9])/i;
const attributeCharactersMax = 2_000;

/** Reads HTML within the limits. Costs time in proportion to its length. */
export function boundedDocument(html: string, limits: WebLimits): BoundedDocument {
  const builder = new DocumentBuilder(limits);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => builder.open(name, attributes),
      onclosetag: () => builder.close(),
      ontext: (text) => builder.text(text),
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.end(html.slice(0, limits.htmlCharactersMax));
  return builder.end();
}

/** An open element: where its children go, and whether they are left out. */
interface Level {
  readonly node: Element;
  readonly isDropped: boolean;
}

class DocumentBuilder {
  readonly #limits: WebLimits;
  readonly #document: Document = parseHTML("<!doctype html><html><head></head><body></body></html>").document;
  readonly #levels: Level[] = [];
  #pending: string[] = [];
  #elements = 0;
  #depth = 0;
  #canonical: string | undefined;
  #base: string | undefined;
  #isFlattened = false;

  constructor(limits: WebLimits) {
    this.#limits = limits;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    const above = this.#levels.at(-1) ?? { node: this.#document.body, isDropped: false };
    const isDropped = above.isDropped || dropped.has(name) || isHidden(attributes);
    if (!isDropped && name === "img") this.#image(attributes["alt"] ?? "");
    if (isDropped || name === "img") this.#levels.push({ node: above.node, isDropped });
    else if (name === "html" || name === "head" || name === "body") this.#levels.push({ node: this.#document.body, isDropped });
    else this.#levels.push({ node: this.#append(above.node, name, attributes), isDropped });
  }

  close(): void {
    const level = this.#levels.at(-1);
    const isElement = level !== undefined && level.node !== (this.#levels.at(-2)?.node ?? this.#document.body);
    if (isElement) {
      this.#flush();
      this.#depth--;
    }
    this.#levels.pop();
  }

  text(text: string): void {
    if (this.#levels.at(-1)?.isDropped !== true) this.#pending.push(text);
  }

  end(): BoundedDocument {
    this.#flush();
    return { document: this.#document, canonical: this.#canonical, base: this.#base, isFlattened: this.#isFlattened };
  }

  /** The new element, or the parent itself where a limit is reached: its text stays, its structure does not. */
  #append(parent: Element, name: string, attributes: Readonly<Record<string, string>>): Element {
    this.#noteLinks(name, attributes);
    const isTooMuch = this.#elements >= this.#limits.elementsMax || this.#depth >= this.#limits.depthMax;
    if (isTooMuch) this.#isFlattened = true;
    if (isTooMuch || !/^[a-z][a-z0-9]*$/.test(name)) {
      this.#pending.push(" ");
      return parent;
    }
    this.#flush();
    const element = this.#document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
      if (kept.has(key)) element.setAttribute(key, value.slice(0, attributeCharactersMax));
    (ofHead.has(name) ? this.#document.head : parent).appendChild(element);
    this.#elements++;
    this.#depth++;
    return element;
  }

  /** An image is its text alone, so that no address of an image is shown to anyone. */
  #image(alt: string): void {
    const text = alt.replace(/\s+/g, " ").trim().slice(0, attributeCharactersMax);
    if (text !== "") this.#pending.push(` (image: ${text}) `);
  }

  #noteLinks(name: string, { rel, href }: Readonly<Record<string, string>>): void {
    if (name === "base") this.#base ??= href;
    if (name === "link" && rel?.toLowerCase() === "canonical") this.#canonical ??= href;
  }

  #flush(): void {
    if (this.#pending.length === 0) return;
    const parent = this.#levels.at(-1)?.node ?? this.#document.body;
    parent.appendChild(this.#document.createTextNode(this.#pending.join("")));
    this.#pending = [];
  }
}

/** Not shown to people, so not read to a model either: text is hidden in pages to give it orders. */
function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  return (
    "hidden" in attributes ||
    attributes["aria-hidden"] === "true" ||
    hiddenStyle.test((attributes["style"] ?? "").slice(0, attributeCharactersMax))
  );
}
