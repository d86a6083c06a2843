/** Controls beside tab and line feed, marks that turn the direction of text, characters without width, fillers and tags. */
const invisible: readonly (readonly [number, number])[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x034f, 0x034f],
  [0x061c, 0x061c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];
const pattern = new RegExp(`[${invisible.map((range) => range.map((code) => `\\u{${code.toString(16)}}`).join("-")).join("")}]+`, "gu");

/** The text without characters that people cannot see and a model reads, well-formed, with `\n` between lines. */
export function cleanText(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(pattern, "").toWellFormed();
}

/** The same on one line, at most so many characters: for titles, names and snippets. */
export function cleanLine(text: string, charactersMax: number): string {
  const line = cleanText(text).replace(/\s+/g, " ").trim();
  return line.length > charactersMax ? `${line.slice(0, charactersMax).toWellFormed()}...` : line;
}
