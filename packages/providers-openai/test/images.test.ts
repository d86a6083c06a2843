import { type Asked, imagesUnderTest } from "@loopwright/provider-kit/testing";
import { imageGeneratorKit, runKit, samplePng } from "@loopwright/testing";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { openaiImages } from "../src/index.ts";

const known = new Set(["model", "prompt", "n", "size", "quality", "background", "moderation", "output_format", "output_compression"]);
const signal = new AbortController().signal;

/** What OpenAI answers with 400. `response_format` is one of its refusals, and a field that other servers want. */
function refusalOf({ url, headers, body }: Asked): string | undefined {
  if (url !== "/v1/images/generations") return `Invalid URL (POST ${url})`;
  if (!headers.authorization?.startsWith("Bearer ")) return "You didn't provide an API key.";
  const unknown = Object.keys(body).find((name) => !known.has(name) && name !== "response_format");
  if (unknown !== undefined) return `Unknown parameter: '${unknown}'.`;
  if (typeof body["model"] !== "string" || body["model"] === "") return "you must provide a model parameter";
  if (typeof body["prompt"] !== "string" || body["prompt"] === "") return "Missing required parameter: 'prompt'.";
  if (body["size"] !== undefined && !/^\d+x\d+$/.test(String(body["size"]))) return "Invalid size.";
  return undefined;
}

const answerOf = (base64: string, tokens?: { readonly input: number; readonly output: number }) => ({
  created: 1,
  data: [{ b64_json: base64 }],
  ...(tokens === undefined
    ? {}
    : { usage: { input_tokens: tokens.input, output_tokens: tokens.output, total_tokens: tokens.input + tokens.output } }),
});

const errorOf = (status: number, message: string, code = String(status)) => ({
  error: { message, type: "image_generation_user_error", param: null, code },
});

const trials = imagesUnderTest({
  make: ({ origin, key }) => openaiImages({ apiKey: key, baseURL: `${origin}/v1`, model: "gpt-image-2.5-flare" }),
  wire: {
    promptOf: ({ prompt }) => String(prompt),
    refusalOf,
    answerOf,
    filtered: () => [400, errorOf(400, "Your request was rejected by the safety system.", "moderation_blocked")],
    errorOf,
  },
});
afterAll(() => trials[Symbol.asyncDispose]());
afterEach(() => vi.unstubAllEnvs());

describe("B100: the image generator of OpenAI keeps every promise", () => runKit(it, imageGeneratorKit, trials));

describe("the image generator of OpenAI", () => {
  it("B100: sends headers for organisation and project, size and quality, and no field that OpenAI refuses", async () => {
    vi.stubEnv("OPENAI_API_KEY", "sk-from-the-environment");
    vi.stubEnv("OPENAI_ORG_ID", "org-env");
    const asked: { url: string; headers: Headers; body: unknown }[] = [];
    const transport: typeof fetch = async (input, init) => {
      asked.push({ url: String(input), headers: new Headers(init?.headers), body: JSON.parse(String(init?.body)) });
      return Response.json(answerOf(samplePng.base64));
    };
    await openaiImages({ transport, quality: "low", project: "proj" }).generate({ prompt: "a cat", shape: "portrait" }, { signal });
    expect(asked[0]?.url).toBe("https://api.openai.com/v1/images/generations");
    expect(asked[0]?.body).toEqual({ model: "gpt-image-2.5-flare", prompt: "a cat", n: 1, size: "1024x1536", quality: "low" });
    const { headers } = asked[0] ?? {};
    expect([headers?.get("openai-organization"), headers?.get("openai-project")]).toEqual(["org-env", "proj"]);
  });

  it("asks another server for the bytes, and names no model for it", async () => {
    const bodies: unknown[] = [];
    const transport: typeof fetch = async (_, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      return Response.json(answerOf(samplePng.base64));
    };
    const baseURL = "http://127.0.0.1:1/v1";
    await openaiImages({ baseURL, transport, model: "local" }).generate({ prompt: "a cat" }, { signal });
    expect(bodies).toEqual([{ model: "local", prompt: "a cat", n: 1, response_format: "b64_json" }]);
    const unnamed = openaiImages({ baseURL, transport }).generate({ prompt: "a cat" }, { signal });
    await expect(unnamed).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  it("fails without a key before any request", async () => {
    vi.stubEnv("OPENAI_API_KEY", "");
    const transport = vi.fn<typeof fetch>();
    await expect(openaiImages({ transport }).generate({ prompt: "a" }, { signal })).rejects.toMatchObject({ code: "MODEL_KEY_MISSING" });
    expect(transport).not.toHaveBeenCalled();
  });

  it("refuses an option with an unknown name", () => {
    expect(() => openaiImages({ size: "1x1" } as never)).toThrow(/`size`/);
  });
});
