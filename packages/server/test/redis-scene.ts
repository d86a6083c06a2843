import { redisChannel } from "@loopwright/channel-redis";
import { silentLogger } from "@loopwright/core/memory";
import { type Listening, listen } from "@loopwright/server/node";
import { onTestFinished } from "vitest";
import { type ServeOptions, serve } from "./serve.ts";

/** A server with a connection of its own to the channel; closed when the test is over. */
export async function serveOverRedis(url: string, options: Omit<ServeOptions, "channel" | "logger">): Promise<Listening> {
  const channel = redisChannel({ url });
  const server = serve({ ...options, channel, logger: silentLogger });
  const listening = await listen(server);
  onTestFinished(async () => {
    await server.close();
    await listening.close();
    await channel.close();
  });
  return listening;
}

/** What the data of each frame states, as it comes. */
export async function* dataOf<Data>(response: Response): AsyncGenerator<Data, void> {
  for await (const [, data] of framesOf<Data>(response)) yield data;
}

/** The name and the data of each frame, as it comes. */
export async function* framesOf<Data>(response: Response): AsyncGenerator<readonly [string, Data], void> {
  let text = "";
  for await (const piece of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += piece;
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const [, name = ""] = /^event: (.*)$/m.exec(frame) ?? [];
      const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
      if (data !== undefined) yield [name, JSON.parse(data) as Data];
    }
  }
}

/** Sends JSON. */
export const post = (url: string, body: object): Promise<Response> =>
  fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
