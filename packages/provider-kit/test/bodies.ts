/** A body that gives these pieces, one per read. */
export function bodyOf(parts: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const part = parts[next++];
        if (part === undefined) controller.close();
        else controller.enqueue(part);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The text's bytes in pieces of a size. */
export function pieces(text: string, size: number): readonly Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(bytes.subarray(at, at + size));
  return parts;
}

/** The bytes cut at these places (taken modulo the length; equal ones give empty pieces). */
export function cutAt(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const places = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const place of [...places, bytes.length]) {
    parts.push(bytes.subarray(from, place));
    from = place;
  }
  return parts;
}
