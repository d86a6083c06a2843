import { setTimeout as wait } from "node:timers/promises";
import type { IdleScene } from "./http-scenes.ts";
import { openAgent, send } from "./load.ts";
import type { MeasuredServer } from "./measured-server.ts";
import { eventsPath, notificationsPath } from "./served.ts";

/** Streams that are opened at once. */
const wave = 100;
const settleMs = 1_000;

async function open(url: string, streams: number): Promise<() => void> {
  const agent = openAgent();
  let alive = 0;
  for (let opened = 0; opened < streams; opened += wave)
    await Promise.all(
      Array.from({ length: Math.min(wave, streams - opened) }, async () => {
        const answer = await send(url, { agent });
        await new Promise((resolve) => answer.once("data", resolve));
        answer.on("data", () => {}).on("error", () => {});
        alive++;
        answer.on("close", () => alive--);
      }),
    );
  await wait(settleMs);
  if (alive !== streams) throw new Error(`${alive} of ${streams} streams are open.`);
  return () => agent.destroy();
}

/** Memory that one idle stream costs the server, in KB. */
export async function measureIdle(
  { path, warmup, streams }: IdleScene,
  server: MeasuredServer,
): Promise<Readonly<Record<string, readonly number[]>>> {
  const url = `${server.url}${path === "events" ? eventsPath : notificationsPath}`;
  const close = await open(url, warmup);
  close();
  await wait(settleMs);
  const before = await server.memory();
  await open(url, streams);
  const after = await server.memory();
  return {
    rssKb: [(after.rssBytes - before.rssBytes) / 1024 / streams],
    heapKb: [(after.heapBytes - before.heapBytes) / 1024 / streams],
  };
}
