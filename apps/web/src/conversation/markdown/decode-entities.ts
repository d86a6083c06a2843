const named: { readonly [name: string]: string } = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  middot: "·",
  bull: "•",
  times: "×",
  divide: "÷",
  plusmn: "±",
  deg: "°",
  copy: "©",
  reg: "®",
  trade: "™",
  euro: "€",
  larr: "←",
  rarr: "→",
  uarr: "↑",
  darr: "↓",
  harr: "↔",
  le: "≤",
  ge: "≥",
  ne: "≠",
  infin: "∞",
  check: "✓",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
};

/** The text with the character references that models write made into their characters; unknown ones stay as they are. */
export function decodeEntities(text: string): string {
  return text.includes("&") ? text.replaceAll(/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});/gi, decoded) : text;
}

function decoded(reference: string): string {
  const name = reference.slice(1, -1);
  if (!name.startsWith("#")) return Object.hasOwn(named, name) ? (named[name] ?? reference) : reference;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? "\ufffd" : String.fromCodePoint(code);
}
