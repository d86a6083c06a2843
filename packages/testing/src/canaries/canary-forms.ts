/** A text as bytes in one of the forms in which it may leave a program. */
export interface CanaryForm {
  /** For example `UTF-8`, or `base64 of JSON`. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

type Bytes = readonly (readonly [name: string, bytes: Uint8Array])[];

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const escapedInJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const inUnicodeEscapes = (text: string): string =>
  [...text]
    .map((sign) => (/[\w-]/.test(sign) ? sign : [...units(sign)].map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("")))
    .join("");
const lowerPercents = (text: string): string => text.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase());
const html: { readonly [sign: string]: string } = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** What a text is escaped to where it stands in another text. */
const escapes: readonly (readonly [name: string, escape: (text: string) => string])[] = [
  ["", (text) => text],
  ["JSON", escapedInJson],
  ["JSON in JSON", (text) => escapedInJson(escapedInJson(text))],
  ["JSON with escaped slashes", (text) => escapedInJson(text).replaceAll("/", "\\/")],
  ["JSON with escaped signs", inUnicodeEscapes],
  ["a URL", encodeURIComponent],
  ["a URL with small digits", (text) => lowerPercents(encodeURIComponent(text))],
  ["a form", (text) => new URLSearchParams({ a: text }).toString().slice(2)],
  ["a URL in a URL", (text) => encodeURIComponent(encodeURIComponent(text))],
  ["HTML", (text) => text.replace(/[&<>"']/g, (sign) => html[sign] ?? sign)],
];

/** Every form of a text, each once; the first is its UTF-8. Compression is not among them: `canaryScanner` unpacks what it looks through. */
export function canaryForms(text: string): readonly CanaryForm[] {
  const whole = text.toWellFormed();
  const found = new Map<string, CanaryForm>();
  for (const [escaping, escaped] of escapes)
    for (const [encoding, bytes] of encoded(escaped(whole))) {
      const key = bytes.join();
      if (bytes.length > 0 && !found.has(key)) found.set(key, { name: escaping === "" ? encoding : `${encoding} of ${escaping}`, bytes });
    }
  return [...found.values()];
}

function encoded(text: string): Bytes {
  const plain = utf8(text);
  const wide = utf16(text);
  return [
    ["UTF-8", plain],
    ["UTF-16", wide],
    ["UTF-16, high byte first", wide.map((_, at) => wide[at ^ 1] ?? 0)],
    ...hexOf(plain),
    ...base64Of("base64", plain),
    ...base64Of("base64 of UTF-16", wide),
  ];
}

function hexOf(bytes: Uint8Array): Bytes {
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [
    ["hexadecimal", utf8(hex)],
    ["hexadecimal in capitals", utf8(hex.toUpperCase())],
  ];
}

/** Three for the places that a text can have in the groups of three bytes. Letters at either end that stand for a part of a neighbour as well are left out. */
function base64Of(name: string, bytes: Uint8Array): Bytes {
  return [0, 1, 2].flatMap((before): Bytes => {
    const padded = Uint8Array.from([...new Array<number>(before).fill(32), ...bytes]);
    const text = btoa(String.fromCharCode(...padded)).slice(Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6));
    return [
      [name, utf8(text)],
      [`${name} for URLs`, utf8(text.replaceAll("+", "-").replaceAll("/", "_"))],
      [`${name} in a URL`, utf8(encodeURIComponent(text))],
    ];
  });
}

function utf16(text: string): Uint8Array {
  return Uint8Array.from([...units(text)].flatMap((unit) => [unit & 255, unit >> 8]));
}

function* units(text: string): Generator<number> {
  for (let at = 0; at < text.length; at++) yield text.charCodeAt(at);
}
