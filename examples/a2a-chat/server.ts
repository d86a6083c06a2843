// The page with a model that plays a part, slowly: node server.ts
import { setTimeout as pause } from "node:timers/promises";
import { scripted } from "@loopwright/core/memory";
import type { ModelProvider } from "@loopwright/core/ports";
import { openA2aChat } from "./a2a-chat.ts";

const script = scripted(
  [
    { text: "I read the sensor of the roses.", calls: [{ name: "read_sensor", args: { bed: "roses" } }] },
    { text: "They are dry, so I water them.", calls: [{ name: "water_bed", args: { bed: "roses" } }] },
    { text: "The roses have 40 litres now." },
    { text: "You are welcome." },
  ],
  { chunkSize: 3 },
);
const slow: ModelProvider = {
  ...script,
  async *stream(request, io) {
    for await (const batch of script.stream(request, io)) {
      await pause(60);
      yield batch;
    }
  },
};

const { url } = await openA2aChat(slow, { port: Number(process.env["PORT"] ?? 4300) });
console.log(url);
