/* A server that is measured, in a process of its own: `server-process.ts <server> <settings as JSON>`. Answers over the channel to its parent. */
import { setTimeout as wait } from "node:timers/promises";
import { createProfiler } from "../profiler.ts";
import type { Ask, Memory } from "./measured-server.ts";
import type { Serve, ServeSettings } from "./served.ts";

const [name, settings = "{}"] = process.argv.slice(2);
const { serve } = (await import(`./servers/${name}.ts`)) as { readonly serve: Serve };
const url = await serve(JSON.parse(settings) as ServeSettings);

const collections = 4;

/** After everything that can go has gone. */
async function memory(): Promise<Memory> {
  for (let index = 0; index < collections; index++) {
    globalThis.gc?.();
    await wait(100);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rssBytes: rss, heapBytes: heapUsed + external, peakMb: process.resourceUsage().maxRSS / 1024 };
}

const profiler = await createProfiler(true);

async function answer(ask: Ask): Promise<unknown> {
  switch (ask) {
    case "cpu":
      return process.cpuUsage();
    case "memory":
      return memory();
    case "profile":
      return profiler.start();
    case "profiled":
      return profiler.stop();
  }
}

process.on("message", (ask) => {
  answer(ask as Ask).then(
    (value) => process.send?.({ value: value ?? null }),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on("disconnect", () => process.exit(0));
process.send?.({ value: url });
