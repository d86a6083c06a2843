import OpenAI from "openai";
import type { Open } from "./contender.ts";
import { handWrittenLoop } from "./hand-written-loop.ts";

const clients = new Map<string, OpenAI>();

function clientFor(baseURL: string): OpenAI {
  const known = clients.get(baseURL);
  if (known) return known;
  const client = new OpenAI({ apiKey: "bench", baseURL });
  clients.set(baseURL, client);
  return client;
}

/** The vendor's SDK, iterated by hand. */
export const open: Open = async (opening) => {
  const client = clientFor(opening.baseURL);
  return handWrittenLoop(async (body, onChunk) => {
    for await (const chunk of await client.chat.completions.create(body)) onChunk(chunk);
  }, opening);
};
