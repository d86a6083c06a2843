import type { ReactNode } from "react";

/**
 * Signs that steer a terminal or the direction of writing and can make a text look like another one: everything below the space but
 * tab and line ends, DEL, C1, and the overrides, embeddings and isolates of bidirectional writing.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const steering = /([\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069])/;

const names: { readonly [code: number]: string } = {
  0: "NUL",
  7: "BEL",
  8: "BS",
  27: "ESC",
  127: "DEL",
  155: "CSI",
  157: "OSC",
  8234: "LRE",
  8235: "RLE",
  8236: "PDF",
  8237: "LRO",
  8238: "RLO",
  8294: "LRI",
  8295: "RLI",
  8296: "FSI",
  8297: "PDI",
};

/** The text as it is, with steering signs replaced by something that can be seen and does nothing. */
export function PlainText({ text }: { readonly text: string }): ReactNode {
  if (!steering.test(text)) return text;
  return text.split(steering).map((piece, i) =>
    // Pieces at odd places are the signs themselves.
    i % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name, and hold no state
      <span key={i} className="steering-sign" title={codeOf(piece)}>
        {pictureOf(piece)}
      </span>
    ) : (
      piece
    ),
  );
}

/** The same as plain text, for places that take no elements. */
export function inertText(text: string): string {
  return steering.test(text)
    ? text
        .split(steering)
        .map((piece, i) => (i % 2 === 1 ? pictureOf(piece) : piece))
        .join("")
    : text;
}

const pictureOf = (sign: string): string => `[${names[sign.charCodeAt(0)] ?? codeOf(sign)}]`;

const codeOf = (sign: string): string => `U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
