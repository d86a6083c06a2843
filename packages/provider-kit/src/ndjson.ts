import { bodyTooLarge } from "./body-limits.ts";
import { BodyReader, pendingCharsMax, type ReaderOptions } from "./body-reader.ts";

/**
 * The lines of a newline-delimited JSON body, one array per read that completed at least one. Blank lines are skipped, a CR
 * before the LF is left to the JSON parser (it is white space), a last line without its LF is given at the end. Leaving the
 * loop early cancels the body. Linear in the size of the body, however it is cut.
 * @throws AgentError MODEL_PROTOCOL when a line grows over `pendingCharsMax` or the body over `streamBytesMax`; whatever the body itself throws is passed on.
 */
export function readNdjson(body: ReadableStream<Uint8Array>, options: ReaderOptions = {}): AsyncIterableIterator<readonly string[]> {
  const charsMax = options.pendingCharsMax ?? pendingCharsMax;
  let pending = "";
  let failure: { readonly error: unknown } | undefined;

  const feed = (text: string): readonly string[] | undefined => {
    const lines: string[] = [];
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      const line = pending + text.slice(start, end);
      pending = "";
      if (!isBlank(line)) lines.push(line);
      start = end + 1;
    }
    if (start < text.length) pending += text.slice(start);
    if (pending.length > charsMax) failure = { error: bodyTooLarge("pendingCharsMax", charsMax) };
    return lines.length === 0 ? undefined : lines;
  };

  const finish = (): readonly string[] | undefined => {
    const line = pending;
    pending = "";
    return isBlank(line) ? undefined : [line];
  };
  return new BodyReader(
    body,
    {
      feed,
      finish,
      get failure() {
        return failure;
      },
    },
    options,
  );
}

function isBlank(line: string): boolean {
  return line === "" || line === "\r" || line.trim() === "";
}
