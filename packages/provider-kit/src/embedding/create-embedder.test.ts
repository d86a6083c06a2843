import { AgentError } from "@loopwright/core";
import { describe, expect, it, vi } from "vitest";
import { errorFromStatus } from "../errors/error-from-status.ts";
import { createEmbedder } from "./create-embedder.ts";
import type { EmbeddingVendor } from "./embedding-vendor.ts";

const signal = new AbortController().signal;
const answering = () =>
  vi.fn<typeof fetch>(async (_, init) =>
    Response.json((JSON.parse(String(init?.body)) as readonly string[]).map(({ length }) => [length, 1])),
  );

const little = (transport: typeof fetch, own: Partial<EmbeddingVendor> = {}) =>
  createEmbedder({
    name: "little",
    label: "Little",
    model: "little-1",
    transport,
    textsMax: 3,
    bytesMax: 10,
    bodyOf: ({ texts }) => texts,
    connect: () => ({
      secrets: [],
      send: ({ body, signal: own, fetch }) => fetch("http://little.example", { method: "POST", body, signal: own }),
    }),
    answerOf: (answer) => ({ vectors: answer as readonly unknown[], usage: { input: 2 } }),
    failureOf: ({ status, headers, text }) => errorFromStatus({ provider: "Little", status, headers, message: text }),
    ...own,
  });

const sentBy = (transport: ReturnType<typeof answering>): unknown => transport.mock.calls.map(([, init]) => JSON.parse(String(init?.body)));

describe("an embedder made of a vendor's parts", () => {
  it("divides texts by number and by bytes, and sends a text over the bound of bytes alone", async () => {
    const transport = answering();
    const texts = ["a", "b", "c", "d", "éééé", "ü", "much too long for it", "e"];
    const { vectors, usage } = await little(transport).embed({ texts, purpose: "passage" }, { signal });
    expect(sentBy(transport)).toEqual([["a", "b", "c"], ["d", "éééé"], ["ü"], ["much too long for it"], ["e"]]);
    expect(vectors.map(([length]) => length)).toEqual(texts.map(({ length }) => length));
    expect(usage).toEqual({ input: 10 });
  });

  it("connects with the first call, once, and again after it has failed", async () => {
    const transport = answering();
    let attempts = 0;
    const connect = vi.fn<EmbeddingVendor["connect"]>(() => {
      if (++attempts === 1) throw new AgentError("MODEL_KEY_MISSING", { message: "No key." });
      return { secrets: [], send: ({ body, fetch }) => fetch("http://little.example", { method: "POST", body }) };
    });
    const embedder = little(transport, { connect });
    const embed = () => embedder.embed({ texts: ["a"], purpose: "query" }, { signal });
    expect(connect).not.toHaveBeenCalled();
    await expect(embed()).rejects.toMatchObject({ code: "MODEL_KEY_MISSING" });
    await embed();
    await embed();
    expect(connect).toHaveBeenCalledTimes(2);
  });

  it("refuses vectors of another length than those of an earlier call", async () => {
    let length = 2;
    const embedder = little(async () => Response.json([Array.from({ length }, () => 1)]));
    const embed = () => embedder.embed({ texts: ["a"], purpose: "query" }, { signal });
    await embed();
    length = 3;
    await expect(embed()).rejects.toMatchObject({
      code: "MODEL_PROTOCOL",
      message: "Little answered with a vector of 3 numbers beside one of 2.",
    });
  });

  it.each([[[[]]], [[["1"]]], [[[null]]], [[{}]], [[1]]])("refuses %j as vectors", async (vectors) => {
    const call = little(async () => Response.json(vectors)).embed({ texts: ["a"], purpose: "query" }, { signal });
    await expect(call).rejects.toMatchObject({ code: "MODEL_PROTOCOL" });
  });

  it("refuses a redirect", async () => {
    const moved = async () => new Response(null, { status: 302, headers: { location: "http://other.example" } });
    await expect(little(moved).embed({ texts: ["a"], purpose: "query" }, { signal })).rejects.toMatchObject({ code: "MODEL_REDIRECTED" });
  });
});
