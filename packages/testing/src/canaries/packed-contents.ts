/** What one stream of gzip may give: a bomb is read as far as this. */
const unpackedBytesMax = 64 * 1024 * 1024;
/** Streams in streams. */
const depthMax = 3;

const gzipHead = [0x1f, 0x8b, 0x08] as const;
/** The same in base64, where it begins a text. */
const gzipHeadInBase64 = new TextEncoder().encode("H4sI");

/** What the streams of gzip in these bytes hold, as far as they are whole, wherever they begin; also those in base64, and those in others. */
export async function packedContents(bytes: Uint8Array, depth = 0): Promise<readonly Uint8Array[]> {
  if (depth >= depthMax) return [];
  const found: Uint8Array[] = [];
  const add = async (packed: Uint8Array): Promise<void> => {
    const content = await unpacked(packed);
    if (content.length > 0) found.push(content, ...(await packedContents(content, depth + 1)));
  };
  for (let at = placeOf(bytes, gzipHead, 0); at !== -1; at = placeOf(bytes, gzipHead, at + 1)) await add(bytes.subarray(at));
  for (let at = placeOf(bytes, gzipHeadInBase64, 0); at !== -1; at = placeOf(bytes, gzipHeadInBase64, at + 1))
    await add(fromBase64(bytes.subarray(at)));
  return found;
}

function placeOf(bytes: Uint8Array, head: ArrayLike<number>, from: number): number {
  for (let at = bytes.indexOf(head[0] ?? 0, from); at !== -1; at = bytes.indexOf(head[0] ?? 0, at + 1)) {
    let length = 1;
    while (length < head.length && bytes[at + length] === head[length]) length++;
    if (length === head.length) return at;
  }
  return -1;
}

/** What was read before the stream ended, or broke off: other bytes may stand behind it. */
async function unpacked(packed: Uint8Array): Promise<Uint8Array> {
  const { readable, writable } = new DecompressionStream("gzip");
  const writer = writable.getWriter();
  // A stream that breaks off is reported by the reader.
  void writer.write(Uint8Array.from(packed)).catch(() => undefined);
  void writer.close().catch(() => undefined);
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  const reader = readable.getReader();
  try {
    for (let next = await reader.read(); !next.done && sizeBytes < unpackedBytesMax; next = await reader.read()) {
      pieces.push(next.value);
      sizeBytes += next.value.length;
    }
  } catch {
    // These bytes began no stream, or its end is not here.
  }
  await reader.cancel().catch(() => undefined);
  return joined(pieces, sizeBytes);
}

function joined(pieces: readonly Uint8Array[], sizeBytes: number): Uint8Array {
  const whole = new Uint8Array(sizeBytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The bytes of the letters of base64 that these begin with. */
function fromBase64(letters: Uint8Array): Uint8Array {
  const end = letters.findIndex((letter) => !isBase64(letter));
  const text = new TextDecoder().decode(end === -1 ? letters : letters.subarray(0, end));
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  return Uint8Array.from(atob(standard.slice(0, standard.length - (standard.length % 4 === 1 ? 1 : 0))), (sign) => sign.charCodeAt(0));
}

function isBase64(letter: number): boolean {
  const isLetter = (letter >= 65 && letter <= 90) || (letter >= 97 && letter <= 122) || (letter >= 48 && letter <= 57);
  return isLetter || letter === 43 || letter === 45 || letter === 47 || letter === 95;
}
