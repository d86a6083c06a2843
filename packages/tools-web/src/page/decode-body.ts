import { TextDecoder } from "node:util";

/** The text of a body: by its byte order mark, the header, the `<meta>` of HTML, else UTF-8. Wrong bytes become U+FFFD. */
export function decodeBody(bytes: Uint8Array, charset: string | undefined, isHtml: boolean): string {
  const label = markOf(bytes) ?? charset ?? (isHtml ? metaOf(bytes) : undefined);
  return decoderOf(label).decode(bytes);
}

function markOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : undefined;
}

/** Within the first 1,024 bytes, as HTML demands. */
function metaOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 1_024)).toString("latin1");
  return /<meta\s[^>]*?charset\s*=\s*["']?([\w:.-]+)/i.exec(head)?.[1];
}

function decoderOf(label: string | undefined): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}
