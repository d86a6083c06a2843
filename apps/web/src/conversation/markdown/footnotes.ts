import type { Token, TokenizerExtension } from "marked";

/** `[^1]` in a text. */
export interface FootnoteMark {
  readonly type: "footnote_mark";
  readonly raw: string;
  readonly name: string;
}

/** `[^1]: the note`. */
export interface Footnote {
  readonly type: "footnote";
  readonly raw: string;
  readonly name: string;
  readonly tokens: readonly Token[];
}

/** How notes are read: the mark in the text, and the note where its author put it. */
export const footnotes: readonly TokenizerExtension[] = [
  {
    name: "footnote_mark",
    level: "inline",
    start: (text) => text.indexOf("[^"),
    tokenizer(text) {
      const [raw, name] = /^\[\^([\w-]{1,32})\]/.exec(text) ?? [];
      return raw === undefined ? undefined : { type: "footnote_mark", raw, name };
    },
  },
  {
    name: "footnote",
    level: "block",
    start: (text) => /^ {0,3}\[\^/m.exec(text)?.index,
    tokenizer(text) {
      const [raw, name, words = ""] =
        /^ {0,3}\[\^([\w-]{1,32})\]:[ \t]*([^\n]*(?:\n(?!\s*(?:\n|$)| {0,3}\[\^)[^\n]+)*)(?:\n|$)/.exec(text) ?? [];
      if (raw === undefined) return undefined;
      return { type: "footnote", raw, name, tokens: this.lexer.inlineTokens(words.trim()) };
    },
  },
];
