/** C0 without newline and tab, DEL, C1. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Marks that reorder what stands beside them, and the line and paragraph separators. */
const reordering = /[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

const visible = (character: string): string => {
  const code = character.charCodeAt(0);
  if (code === 0x0d) return "";
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
};

/**
 * The text without anything that a terminal acts upon: control characters become visible pictures, marks that reorder text
 * become U+FFFD, carriage returns go, tabs become four spaces. Newlines stay. Works piece by piece.
 */
export function neutralise(text: string): string {
  return text.replace(controls, visible).replace(reordering, "\ufffd").replaceAll("\t", "    ");
}

/** The text on one line, at most `max` characters, with an ellipsis where it was cut. */
export function oneLine(text: string, max: number): string {
  const line = neutralise(text.length > max * 4 ? text.slice(0, max * 4) : text)
    .replace(/\s+/g, " ")
    .trim();
  if (line.length <= max && text.length <= max * 4) return line;
  return `${Array.from(line.slice(0, max)).slice(0, -1).join("")}…`;
}
