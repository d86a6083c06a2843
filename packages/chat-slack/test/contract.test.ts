import { chatSurfaceKit, runKit, type SurfaceUnderTest } from "@loopwright/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import { slackApi } from "../src/slack-api.ts";
import { placeOf, slackSurface, targetOf } from "../src/slack-surface.ts";
import { type FakeSlack, fakeSlack, type SentInSlack } from "../src/testing/index.ts";
import { anne, tokens } from "./garden.ts";

let slack: FakeSlack;
beforeAll(async () => {
  slack = await fakeSlack(tokens);
});
afterAll(() => slack.close());

let count = 0;

/** A thread of a channel and a direct message that were not written in before. */
async function make(): Promise<SurfaceUnderTest> {
  slack.allow();
  const [channel, direct] = [`C${++count}`, `D${count}`];
  const root = slack.say({ from: anne, channel, text: "<@UBOT> hello" });
  slack.say({ from: anne, channel: direct, text: "hello" });
  const { signal } = new AbortController();
  const surface = slackSurface(slackApi({ token: tokens.botToken, apiUrl: slack.url, signal }));
  const removed = new Set<string>();
  const sentTo = (place: string): readonly SentInSlack[] =>
    slack.sent.filter(({ ts, channel: at, thread }) => placeOf(at, thread) === place && !removed.has(ts));
  return {
    ...{ surface, places: [placeOf(channel, root), direct], secrets: Object.values(tokens) },
    shown: (place) => sentTo(place).map(({ text, buttons, file }) => ({ text, buttons, ...(file ? { file } : {}) })),
    removeNewest(place) {
      const { ts = "" } = sentTo(place).at(-1) ?? {};
      removed.add(ts);
      slack.remove(ts);
    },
    meet(fate, place) {
      if (fate === "outage") slack.fail(503);
      else slack.archive(targetOf(place).channel);
    },
    limit: (_, seconds) => slack.limit("chat.postMessage", seconds),
    heal: () => slack.allow(),
    sendRefused: () => surface.sendFile(direct, { name: "empty.md", mediaType: "text/markdown", text: "" }),
  };
}

describe("a chat of Slack", () =>
  runKit(it, chatSurfaceKit, {
    make,
    lacks: [{ capability: "limits by place", reason: "a limit of Slack counts in the whole workspace" }],
  }));
