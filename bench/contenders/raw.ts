import type { Open } from "./contender.ts";
import { handWrittenLoop } from "./hand-written-loop.ts";
import { sseLines } from "./sse-lines.ts";

/** Global fetch, and server-sent events taken apart by hand. */
export const open: Open = async (opening) => {
  const url = `${opening.baseURL}/chat/completions`;
  const headers = { "content-type": "application/json", authorization: "Bearer bench" };
  return handWrittenLoop(async (body, onChunk) => {
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok || !response.body) throw new Error(`The server answered ${response.status}.`);
    const decoder = new TextDecoder();
    const take = sseLines(onChunk);
    for await (const bytes of response.body) take(decoder.decode(bytes, { stream: true }));
  }, opening);
};
