import type { Agent } from "node:http";
import { seenPiece } from "../server/script.ts";
import type { CrowdScene } from "./http-scenes.ts";
import { createWordCount, openAgent, send } from "./load.ts";
import type { Around, MeasuredServer } from "./measured-server.ts";

/** Pieces of text that the two answers of `/pair` come in, the first of them with a call. */
const pieces = 6 + 41;
/** System prompt, input, call and result. */
const messagesSeen = 4;

async function run(url: string, agent: Agent): Promise<void> {
  const body = { input: "Please do what is to be done.", agent: "bench" };
  const answer = await send(`${url}/api/agent/execute`, { agent, body });
  const deltas = createWordCount("event: text_delta\n");
  const seen = createWordCount(`"delta":${JSON.stringify(seenPiece(messagesSeen))}`);
  const ends = createWordCount('{"type":"execute_complete","status":"completed"');
  for await (const piece of answer) for (const words of [deltas, seen, ends]) words.take(piece as string);
  if (deltas.count === pieces && seen.count === 1 && ends.count === 1) return;
  throw new Error(`A run gave ${deltas.count} pieces, ${seen.count} right ends of its text and ${ends.count} ends.`);
}

/** CPU of the server for one run, and its largest resident set. */
export async function measureCrowd(
  { warmups, warmupRuns, runs }: CrowdScene,
  server: MeasuredServer,
  around: Around,
): Promise<Readonly<Record<string, readonly number[]>>> {
  const all = async (count: number): Promise<void> => {
    const agent = openAgent();
    await Promise.all(Array.from({ length: count }, () => run(server.url, agent)));
    agent.destroy();
  };
  for (let index = 0; index < warmups; index++) await all(warmupRuns);
  const cpuUs = await around(() => all(runs));
  const { peakMb } = await server.memory();
  return { cpuUs: [cpuUs / runs], peakMb: [peakMb] };
}
