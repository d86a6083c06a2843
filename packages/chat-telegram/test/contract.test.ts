import { chatSurfaceKit, runKit, type SurfaceUnderTest } from "@loopwright/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import { telegramApi } from "../src/telegram-api.ts";
import { placeOf, telegramSurface } from "../src/telegram-surface.ts";
import { type FakeTelegram, fakeTelegram, type SentByBot } from "../src/testing/index.ts";
import { token } from "./garden.ts";

let telegram: FakeTelegram;
beforeAll(async () => {
  telegram = await fakeTelegram(token);
});
afterAll(() => telegram.close());

let count = 100;

/** What Telegram asks to be waited for passes at once. */
const clock = {
  after(_: number, run: () => void): () => void {
    queueMicrotask(run);
    return () => {};
  },
};

/** A private chat and a topic of a group that were not written in before. */
async function make(): Promise<SurfaceUnderTest> {
  telegram.allow();
  const from = { id: ++count, name: "Anne" };
  telegram.say({ from, text: "hello" });
  telegram.say({ from, chat: -from.id, topic: 7, text: "hello" });
  const { signal } = new AbortController();
  const surface = telegramSurface(telegramApi({ token, apiRoot: telegram.url, clock, signal }));
  const sentTo = (place: string): readonly SentByBot[] => telegram.sent.filter(({ chat, topic }) => placeOf(chat, topic) === place);
  const chatOf = (place: string): number => Number(place.split("/")[0]);
  return {
    ...{ surface, places: [placeOf(from.id, undefined), placeOf(-from.id, 7)], secrets: [token] },
    shown: (place) =>
      sentTo(place).map(({ text, buttons, file }) => ({
        ...{ text, buttons: buttons.map(({ label, data }) => ({ id: data, label })) },
        ...(file ? { file } : {}),
      })),
    removeNewest: (place) => telegram.remove(sentTo(place).at(-1)?.id ?? 0),
    meet(fate, place) {
      if (fate === "outage") telegram.fail(502);
      else telegram.block(chatOf(place));
    },
    limit: (place, seconds) => telegram.limit(seconds, chatOf(place)),
    heal: () => telegram.allow(),
    sendRefused: () => surface.sendFile(placeOf(from.id, undefined), { name: "empty.md", mediaType: "text/markdown", text: "" }),
  };
}

describe("a chat of Telegram", () => runKit(it, chatSurfaceKit, { make }));
