import type { JsonObject } from "@loopwright/core";
import { type Asked, imagesUnderTest } from "@loopwright/provider-kit/testing";
import { imageGeneratorKit, runKit, samplePng } from "@loopwright/testing";
import { afterAll, describe, expect, it, vi } from "vitest";
import { geminiImages } from "../src/index.ts";

const path = "/v1beta/models/gemini-3.1-flash-image:generateContent";
const ratios = new Set(["1:1", "2:3", "3:2", "3:4", "4:3", "9:16", "16:9", "21:9"]);
const signal = new AbortController().signal;

interface WireBody {
  readonly contents: readonly { readonly role: string; readonly parts: readonly { readonly text: string }[] }[];
  readonly generationConfig: { readonly responseModalities: readonly string[]; readonly imageConfig?: { readonly aspectRatio: string } };
}
const wireBody = (body: JsonObject): WireBody => body as unknown as WireBody;

/** What Gemini answers with 400. */
function refusalOf({ url, headers, body }: Asked): string | undefined {
  if (url !== path) return "Not found.";
  if (headers["x-goog-api-key"] === undefined) return "API key not valid.";
  const unknown = Object.keys(body).find((name) => name !== "contents" && name !== "generationConfig");
  if (unknown !== undefined) return `Invalid JSON payload received. Unknown name "${unknown}"`;
  const { contents, generationConfig } = wireBody(body);
  if (contents[0]?.role !== "user" || !contents[0].parts[0]?.text) return "contents is not specified";
  if (generationConfig.responseModalities.join() !== "IMAGE") return "Invalid value at 'generation_config.response_modalities'";
  const ratio = generationConfig.imageConfig?.aspectRatio;
  return ratio !== undefined && !ratios.has(ratio) ? "Invalid aspect ratio." : undefined;
}

const partsOf = (base64: string) => [
  { text: "Here is a draft:", thought: true },
  { inlineData: { mimeType: "image/png", data: btoa("a draft") }, thought: true },
  { text: "Here is your picture." },
  { inlineData: { mimeType: "image/png", data: base64 } },
];

const answerOf = (base64: string, tokens?: { readonly input: number; readonly output: number }) => ({
  candidates: [{ content: { role: "model", parts: partsOf(base64) }, finishReason: "STOP" }],
  ...(tokens === undefined
    ? {}
    : {
        usageMetadata: {
          promptTokenCount: tokens.input,
          candidatesTokenCount: tokens.output - 40,
          thoughtsTokenCount: 40,
          totalTokenCount: tokens.input + tokens.output,
        },
      }),
});

const statuses: { readonly [status: number]: string } = { 400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED" };
const errorOf = (status: number, message: string) => ({ error: { code: status, message, status: statuses[status] } });

const trials = imagesUnderTest({
  make: ({ origin, key }) => geminiImages({ apiKey: key, baseURL: origin }),
  wire: {
    promptOf: (body) => wireBody(body).contents[0]?.parts[0]?.text ?? "",
    refusalOf,
    answerOf,
    filtered: () => [200, { promptFeedback: { blockReason: "IMAGE_SAFETY" } }],
    errorOf,
  },
});
afterAll(() => trials[Symbol.asyncDispose]());

describe("B100: the image generator of Gemini keeps every promise", () => runKit(it, imageGeneratorKit, trials));

const answering = (answer: unknown) => geminiImages({ apiKey: "key-0123456789", transport: async () => Response.json(answer) });

describe("the image generator of Gemini", () => {
  it("B100: names the aspect ratio of the shape, and keeps the key out of the address", async () => {
    const transport = vi.fn<typeof fetch>(async () => Response.json(answerOf(samplePng.base64)));
    await geminiImages({ apiKey: "key-0123456789", transport }).generate({ prompt: "a cat", shape: "landscape" }, { signal });
    expect(String(transport.mock.calls[0]?.[0])).toBe(`https://generativelanguage.googleapis.com${path}`);
    expect(JSON.parse(String(transport.mock.calls[0]?.[1]?.body))).toEqual({
      contents: [{ role: "user", parts: [{ text: "a cat" }] }],
      generationConfig: { responseModalities: ["IMAGE"], imageConfig: { aspectRatio: "3:2" } },
    });
  });

  it.each(["IMAGE_SAFETY", "PROHIBITED_CONTENT", "IMAGE_PROHIBITED_CONTENT", "SAFETY", "IMAGE_RECITATION"])(
    "reports a picture that was kept back because of %s as a refusal",
    async (finishReason) => {
      const call = answering({ candidates: [{ content: { parts: [] }, finishReason }] }).generate({ prompt: "a" }, { signal });
      await expect(call).rejects.toMatchObject({ code: "MODEL_REFUSED", message: expect.stringContaining(finishReason) });
    },
  );

  it("reports an answer in words alone as no picture", async () => {
    const call = answering({ candidates: [{ content: { parts: [{ text: "A cat is an animal." }] }, finishReason: "STOP" }] });
    await expect(call.generate({ prompt: "a" }, { signal })).rejects.toMatchObject({ code: "MODEL_PROTOCOL" });
  });

  it("refuses an option with an unknown name", () => {
    expect(() => geminiImages({ size: "1K" } as never)).toThrow(/`size`/);
  });
});
