import OpenAI from "openai";
import { modelName, systemPrompt } from "../contenders/contender.ts";
import type { FirstTokenScene } from "./http-scenes.ts";
import type { MeasuredServer } from "./measured-server.ts";

const question = "Please say something.";

/** Milliseconds from the call of the SDK to its first text. */
async function direct(client: OpenAI): Promise<number> {
  const begun = performance.now();
  let firstMs: number | undefined;
  const chunks = await client.chat.completions.create({
    model: modelName,
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: "system", content: systemPrompt },
      { role: "user", content: question },
    ],
  });
  for await (const chunk of chunks) if (chunk.choices[0]?.delta.content) firstMs ??= performance.now() - begun;
  if (firstMs === undefined) throw new Error("The model said nothing.");
  return firstMs;
}

/** Milliseconds from the request to the first text of a new session. */
async function served(url: string): Promise<number> {
  const begun = performance.now();
  const answer = await fetch(`${url}/api/agent/execute`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ agent: "bench", input: question }),
  });
  if (!answer.ok || !answer.body) throw new Error(`The server answered ${answer.status}.`);
  const decoder = new TextDecoder();
  let firstMs: number | undefined;
  let text = "";
  for await (const bytes of answer.body) {
    text += decoder.decode(bytes, { stream: true });
    if (firstMs === undefined && text.includes("event: text_delta\n")) firstMs = performance.now() - begun;
  }
  if (firstMs === undefined || !text.includes('"status":"completed"')) throw new Error(`The run said ${text.slice(-500)}`);
  return firstMs;
}

/** Times to the first text, in milliseconds, of turns taken by both: `directMs` and `servedMs`. */
export async function measureFirstToken(
  { warmups, runs }: FirstTokenScene,
  { url }: MeasuredServer,
  modelUrl: string,
): Promise<Readonly<Record<string, readonly number[]>>> {
  const client = new OpenAI({ apiKey: "bench", baseURL: modelUrl });
  // Warmed up many at once: the model takes its time.
  await Promise.all(Array.from({ length: warmups }, () => Promise.all([direct(client), served(url)])));
  const directMs: number[] = [];
  const servedMs: number[] = [];
  for (let index = 0; index < runs; index++) {
    directMs.push(await direct(client));
    servedMs.push(await served(url));
  }
  return { directMs, servedMs };
}
