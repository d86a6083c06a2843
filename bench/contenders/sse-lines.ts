import type { Chunk } from "./hand-written-loop.ts";

const prefix = "data: ";

/** Takes server-sent events apart by hand: gives what comes in pieces to `onChunk`, event by event. */
export function sseLines(onChunk: (chunk: Chunk) => void): (text: string) => void {
  let rest = "";
  return (text) => {
    rest += text;
    let from = 0;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n", from)) {
      const line = rest.slice(from, end);
      from = end + 2;
      if (!line.startsWith(prefix)) continue;
      const data = line.slice(prefix.length);
      if (data !== "[DONE]") onChunk(JSON.parse(data) as Chunk);
    }
    rest = rest.slice(from);
  };
}
