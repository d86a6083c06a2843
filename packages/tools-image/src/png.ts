/** A picture as a function of its points. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue from 0 to 255. */
  colourAt(x: number, y: number): readonly [number, number, number];
}

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** A PNG of eight bits a colour. @see https://www.w3.org/TR/png-3/ (2026-11-23) */
export async function pngOf({ width, height, colourAt }: Drawing): Promise<Uint8Array<ArrayBuffer>> {
  const lines = new Uint8Array(height * (1 + 3 * width));
  let at = 0;
  for (let y = 0; y < height; y++) {
    // Each line begins with its filter: none.
    at++;
    for (let x = 0; x < width; x++) for (const part of colourAt(x, y)) lines[at++] = part;
  }
  const header = [...big(width), ...big(height), 8, 2, 0, 0, 0];
  const parts = [signature, chunk("IHDR", header), chunk("IDAT", await deflated(lines)), chunk("IEND", [])];
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

async function deflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

function chunk(name: string, data: Iterable<number>): readonly number[] {
  const body = [...data];
  const named = [...new TextEncoder().encode(name), ...body];
  return [...big(body.length), ...named, ...big(checksum(named))];
}

const big = (value: number): readonly number[] => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];

/** The CRC-32 of the bytes. */
function checksum(bytes: readonly number[]): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
