/** Width and height of a picture in pixels, from its header. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

type Reader = (view: DataView) => PictureSize | undefined;

const textAt = (view: DataView, at: number, length: number): string => {
  let text = "";
  for (let place = at; place < at + length && place < view.byteLength; place++) text += String.fromCharCode(view.getUint8(place));
  return text;
};

/** @see https://www.w3.org/TR/png-3/#11IHDR (2026-11-28) */
const sizeOfPng: Reader = (view) =>
  textAt(view, 0, 8) === "\x89PNG\r\n\x1a\n" && view.byteLength >= 24 && textAt(view, 12, 4) === "IHDR"
    ? { width: view.getUint32(16), height: view.getUint32(20) }
    : undefined;

const sizeOfGif: Reader = (view) =>
  /^GIF8[79]a$/.test(textAt(view, 0, 6)) && view.byteLength >= 10
    ? { width: view.getUint16(6, true), height: view.getUint16(8, true) }
    : undefined;

/** Segments until the first frame header. @see https://www.w3.org/Graphics/JPEG/itu-t81.pdf (2026-11-28) */
const sizeOfJpeg: Reader = (view) => {
  if (textAt(view, 0, 3) !== "\xff\xd8\xff") return undefined;
  for (let at = 2; at + 9 <= view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    // Fill bytes stand in front of a marker.
    if (marker === 0xff) at += 1;
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    else at += 2 + view.getUint16(at + 2);
  }
  return undefined;
};

/** @see https://developers.google.com/speed/webp/docs/riff_container (2026-11-28) */
const sizeOfWebp: Reader = (view) => {
  if (textAt(view, 0, 4) !== "RIFF" || textAt(view, 8, 4) !== "WEBP" || view.byteLength < 30) return undefined;
  const low24 = (at: number): number => view.getUint8(at) | (view.getUint8(at + 1) << 8) | (view.getUint8(at + 2) << 16);
  switch (textAt(view, 12, 4)) {
    case "VP8 ":
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case "VP8L": {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { width: low24(24) + 1, height: low24(27) + 1 };
    default:
      return undefined;
  }
};

/** How the header of a picture is read, by its media type: the types that vendors take. */
export const pictureReaders: ReadonlyMap<string, Reader> = new Map([
  ["image/png", sizeOfPng],
  ["image/gif", sizeOfGif],
  ["image/jpeg", sizeOfJpeg],
  ["image/webp", sizeOfWebp],
]);
