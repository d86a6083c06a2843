import type { ModelRequest } from "@loopwright/core/ports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gemini } from "../src/index.ts";
import { answerOf, cannedFetch, expectedOf, hasRecordings, loadRecordings, loadReplay, type Replay, startReplay } from "./recorded.ts";
import { violationsOf } from "./strict-rules.ts";

const chunkings = ["whole", "event", "bytes:13", "byte", "midchar"];
const request: ModelRequest = { model: "gemini-2.5-flash", messages: [{ role: "user", content: "hello" }] };

const available = hasRecordings();
const recordings = available ? loadRecordings() : [];
const streamed = recordings.filter(({ tags, response }) => tags.includes("stream") && response.status === 200);

describe.skipIf(!available)("recorded answers of Gemini", () => {
  let module: Awaited<ReturnType<typeof loadReplay>>;
  let server: Replay;
  beforeAll(async () => {
    module = await loadReplay();
    server = await startReplay(module);
  });
  afterAll(() => server.close());

  it("are 36, 22 of them streamed with status 200", () => {
    expect([recordings.length, streamed.length]).toEqual([36, 22]);
  });

  describe.each(chunkings)("cut as %s", (mode) => {
    it.each(streamed.map((each) => [each.id, each] as const))("%s is assembled as it was said", async (_, recording) => {
      const pieces = module.chunkBody(Buffer.from(recording.response.body), mode);
      const provider = gemini({ apiKey: "key", fetch: cannedFetch(pieces, recording.response.headers) });
      const answer = await answerOf(provider, request);
      expect(answer.error).toBeUndefined();
      expect(answer).toMatchObject(expectedOf(recording));
    });
  });

  it.each(recordings.map((each) => [each.id, each] as const))("%s comes through the replay server as it was said", async (_, recording) => {
    const provider = gemini({ apiKey: "key", baseURL: server.baseUrl(recording) });
    const answer = await answerOf(provider, { ...request, stream: recording.tags.includes("stream") });
    const { error } = recording.truth;
    if (error) {
      expect(answer.error).toMatchObject({
        details: { status: error.status },
        message: expect.stringContaining(error.message.slice(0, 60)),
      });
      expect(answer.parts).toEqual([]);
    } else {
      expect(answer.error).toBeUndefined();
      expect(answer).toMatchObject(expectedOf(recording));
    }
  });

  it.each(recordings.filter(({ request: { body }, response }) => body && response.status !== 400).map((each) => [each.id, each] as const))(
    "%s was asked for by a request that keeps the strict rules",
    (_, recording) => {
      expect(violationsOf(recording.request.body ?? {})).toEqual([]);
    },
  );
});
