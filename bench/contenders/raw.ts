import type { Open } from "./contender.ts";
import { type Chunk, handWrittenLoop } from "./hand-written-loop.ts";

const prefix = "data: ";

/** Global fetch, and server-sent events taken apart by hand. */
export const open: Open = async (opening) => {
  const url = `${opening.baseURL}/chat/completions`;
  const headers = { "content-type": "application/json", authorization: "Bearer bench" };
  return handWrittenLoop(async (body, onChunk) => {
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok || !response.body) throw new Error(`The server answered ${response.status}.`);
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of response.body) {
      rest += decoder.decode(bytes, { stream: true });
      let from = 0;
      for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n", from)) {
        const line = rest.slice(from, end);
        from = end + 2;
        if (!line.startsWith(prefix)) continue;
        const data = line.slice(prefix.length);
        if (data !== "[DONE]") onChunk(JSON.parse(data) as Chunk);
      }
      rest = rest.slice(from);
    }
  }, opening);
};
