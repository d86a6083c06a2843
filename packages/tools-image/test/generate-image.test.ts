import { AgentError, createAgent, createSession, execute, type Message } from "@loopwright/core";
import { fixedPrices, memoryStore, scripted } from "@loopwright/core/memory";
import type { ImageGenerator } from "@loopwright/core/ports";
import { fileName } from "@loopwright/core/stores";
import { runKit, runTool, samplePng, toolKit } from "@loopwright/testing";
import { describe, expect, it } from "vitest";
import { drawnImages, generateImage } from "../src/index.ts";

const made = { bytes: samplePng.bytes, mediaType: "image/png" } as const;
const generating = (generate: ImageGenerator["generate"] = async () => made): ImageGenerator => ({
  name: "fake",
  model: "fake-1",
  generate,
});
const toolWith = (generator = generating(), more = {}) => generateImage({ generator, blobs: memoryStore().blobs, ...more });

function painter({ generator = generating(), prompt = "A cat" }: { generator?: ImageGenerator; prompt?: string } = {}) {
  const store = memoryStore();
  const provider = scripted([{ calls: [{ name: "generate_image", args: { prompt } }] }, { text: "There it is." }, { text: "A cat." }]);
  const prices = fixedPrices({ "fake/fake-1": { inputUsd: 10, outputUsd: 40 } });
  const agent = createAgent({ name: "painter", provider, prices, tools: [generateImage({ generator, blobs: store.blobs })] });
  return { store, provider, session: createSession({ agent, store }) };
}

const resultOf = (messages: readonly Message[]) => messages.find((message) => message.role === "tool_result");
const imageOf = (messages: readonly Message[]) => {
  const { content = [] } = resultOf(messages) ?? {};
  return typeof content === "string" ? undefined : content.find((part) => part.type === "image");
};

describe("generate_image keeps the promises of a tool (B100)", () => {
  const make = async () => ({ tool: toolWith(drawnImages()), args: { prompt: "A cat" } });
  const lacks = ["streaming", "failing"].map((capability) => ({ capability, reason: "it has no text to stream, and it needs no service" }));
  runKit(it, toolKit, { make, lacks });
});

describe("generate_image (B100)", () => {
  it("B100: keeps the picture in the blob store under the key that the server gives files out by, owned by the session", async () => {
    const { store, session } = painter();
    expect((await execute(session, "Paint a cat.").result()).text).toBe("There it is.");
    const image = imageOf(session.messages);
    const blob = await fileName(samplePng.bytes, "image/png");
    expect(image).toEqual({ type: "image", mediaType: "image/png", source: { blob } });
    const kept = await store.blobs.get("local", blob);
    expect([kept?.mediaType, [...(kept?.bytes ?? [])]]).toEqual(["image/png", [...samplePng.bytes]]);
    await store.log.remove({ scope: "local", session: session.id });
    expect(await store.blobs.get("local", blob)).toBeUndefined();
  });

  it("sends the model the picture in its run, and from the next run on a note of at most 100 words", async () => {
    const { provider, session } = painter({ prompt: Array.from({ length: 150 }, (_, at) => `w${at}`).join(" ") });
    await execute(session, "Paint a cat.").result();
    const now = JSON.stringify(resultOf(provider.requests[1]?.messages ?? []));
    expect(now).toContain(samplePng.base64);
    expect(now).toContain("<already_shown_to_the_user>");
    await execute(session, "What was it?").result();
    const later = JSON.stringify(resultOf(provider.requests[2]?.messages ?? []));
    expect(later).not.toContain(samplePng.base64);
    expect([later.includes("w99 ..."), later.includes("w100")]).toEqual([true, false]);
  });

  it("counts what the vendor counted as usage and cost of the run", async () => {
    const generator = generating(async () => ({ ...made, usage: { input: 1_000, output: 2_000, total: 3_000 } }));
    const { session } = painter({ generator });
    const { usage, cost } = await execute(session, "Paint a cat.").result();
    expect(usage?.output).toBeGreaterThanOrEqual(2_000);
    expect(cost?.totalUsd).toBeCloseTo(0.09);
  });

  it.each([
    ["done", generating()],
    [
      "failed",
      generating(async () => {
        throw new AgentError("MODEL_REFUSED", { message: "The filter declined." });
      }),
    ],
  ])("B108: stores one ended step with the icon WAND, %s", async (state, generator) => {
    const { session } = painter({ generator });
    await execute(session, "Paint a cat.").result();
    const result = resultOf(session.messages);
    expect(result?.progress).toMatchObject([{ title: "Generating", icon: "WAND", state }]);
    expect(result?.isError ?? false).toBe(state === "failed");
    if (state === "failed") expect(JSON.stringify(result?.content)).toContain("MODEL_REFUSED: The filter declined.");
  });

  it("refuses a picture over its limit, a blank prompt and one of more than 4,000 characters", async () => {
    expect((await runTool(toolWith(generating(), { bytesMax: 10 }), { prompt: "A cat" })).result.failure?.code).toBe("PAYLOAD_TOO_LARGE");
    for (const prompt of [" ", "a".repeat(4_001)])
      expect((await runTool(toolWith(), { prompt })).result.failure?.code).toBe("TOOL_ARGUMENTS");
  });

  it("draws nothing twice after a crash unless it is asked to", () => {
    expect([toolWith().replay, toolWith(generating(), { replay: "idempotent" }).replay]).toEqual(["once", "idempotent"]);
  });
});

describe("drawn images", () => {
  const signal = new AbortController().signal;
  it("are the same bytes for the same prompt, and of the wanted shape", async () => {
    const draw = (prompt: string, shape?: "landscape") => drawnImages().generate({ prompt, ...(shape ? { shape } : {}) }, { signal });
    const [one, again, other, wide] = await Promise.all([draw("a"), draw("a"), draw("b"), draw("a", "landscape")]);
    expect(one.bytes).toEqual(again.bytes);
    expect(one.bytes).not.toEqual(other.bytes);
    expect(new DataView(wide.bytes.buffer).getUint32(16)).toBe(96);
  });
});
