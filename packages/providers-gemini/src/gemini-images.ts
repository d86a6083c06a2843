import { AgentError, refuseUnknownOptions } from "@loopwright/core";
import type { ImageGenerator, ImageRequest } from "@loopwright/core/ports";
import { countOf, createImageGenerator, type ImageAnswer, listIn, recordIn, textIn } from "@loopwright/provider-kit";
import { failureOf } from "./errors.ts";
import { type GeminiOptions, keyOf, vendor, vendorName } from "./options.ts";

/** Options of `geminiImages`. */
export interface GeminiImagesOptions extends Pick<GeminiOptions, "apiKey" | "baseURL" | "apiVersion" | "name" | "transport" | "headers"> {
  /** Default `gemini-3.1-flash-image`. */
  readonly model?: string;
}

const knownOptions: { readonly [Name in keyof GeminiImagesOptions]-?: true } = {
  apiKey: true,
  baseURL: true,
  apiVersion: true,
  name: true,
  transport: true,
  headers: true,
  model: true,
};

/** The vendor's fast model for pictures. @see https://ai.google.dev/gemini-api/docs/image-generation (2026-11-23) */
const defaultModel = "gemini-3.1-flash-image";

const ratios: { readonly [Shape in NonNullable<ImageRequest["shape"]>]: string } = { square: "1:1", landscape: "3:2", portrait: "2:3" };

interface WirePart {
  readonly inlineData?: { readonly data?: unknown } | null;
  /** A draft of a model that thinks in pictures. */
  readonly thought?: unknown;
}

interface WireAnswer {
  readonly candidates?:
    | readonly { readonly content?: { readonly parts?: readonly WirePart[] | null } | null; readonly finishReason?: unknown }[]
    | null;
  readonly promptFeedback?: { readonly blockReason?: unknown } | null;
  readonly usageMetadata?: {
    readonly promptTokenCount?: unknown;
    readonly candidatesTokenCount?: unknown;
    readonly thoughtsTokenCount?: unknown;
    readonly totalTokenCount?: unknown;
  } | null;
}

/**
 * Google Gemini as a generator of pictures, over `generateContent`. The SDK is not loaded.
 * @throws AgentError CONFIG_INVALID for an unknown option; in `generate`: MODEL_KEY_MISSING, MODEL_AUTH before any request, then the errors of the port
 * @see https://ai.google.dev/gemini-api/docs/image-generation (2026-11-23)
 */
export function geminiImages(options: GeminiImagesOptions = {}): ImageGenerator {
  refuseUnknownOptions(options, knownOptions, "the image generator `geminiImages`");
  const model = options.model ?? defaultModel;
  const path = model.includes("/") ? model : `models/${model}`;
  return createImageGenerator({
    name: options.name ?? vendor,
    label: vendorName,
    model,
    transport: options.transport,
    bodyOf: ({ prompt, shape }) => ({
      contents: [{ role: "user", parts: [{ text: prompt }] }],
      generationConfig: {
        responseModalities: ["IMAGE"],
        ...(shape === undefined ? {} : { imageConfig: { aspectRatio: ratios[shape] } }),
      },
    }),
    connect: () => {
      const key = keyOf(options);
      const base = (options.baseURL ?? "https://generativelanguage.googleapis.com").replace(/\/+$/, "");
      const url = `${base}/${options.apiVersion ?? "v1beta"}/${path}:generateContent`;
      const headers = { "content-type": "application/json", "x-goog-api-key": key, ...options.headers };
      return { secrets: [key], send: ({ body, signal, fetch }) => fetch(url, { method: "POST", headers, body, signal }) };
    },
    answerOf,
    failureOf,
  });
}

function answerOf(answer: unknown): ImageAnswer {
  const { candidates, promptFeedback, usageMetadata } = recordIn(answer as WireAnswer | null, "an answer") ?? {};
  const [candidate] = listIn(candidates ?? [], "a list of candidates");
  const parts = listIn(recordIn(candidate?.content, "a content")?.parts ?? [], "a list of parts");
  const data = parts.findLast((part) => part.thought !== true && part.inlineData)?.inlineData?.data;
  if (data === undefined) refuse(textIn(promptFeedback?.blockReason, "a reason"), textIn(candidate?.finishReason, "a reason"));
  return { data, usage: usageOf(recordIn(usageMetadata, "a usage")) };
}

/** Reasons of an answer that is incomplete or empty without a filter. */
const unfiltered = new Set(["STOP", "MAX_TOKENS", "OTHER", "NO_IMAGE", "IMAGE_OTHER", "FINISH_REASON_UNSPECIFIED"]);

/** @throws AgentError MODEL_REFUSED where a filter kept the picture back. The reason is a word of the vendor's API. */
function refuse(blockReason: string | undefined, finishReason: string | undefined): void {
  const reason = blockReason ?? (finishReason !== undefined && !unfiltered.has(finishReason) ? finishReason : undefined);
  if (reason === undefined) return;
  throw new AgentError("MODEL_REFUSED", {
    message: `Gemini made no picture: its filter objected (${reason.slice(0, 60)}).`,
    fix: "Describe another picture.",
  });
}

function usageOf(counts: WireAnswer["usageMetadata"]): ImageAnswer["usage"] {
  const input = countOf(counts?.promptTokenCount);
  const written = countOf(counts?.candidatesTokenCount);
  const thought = countOf(counts?.thoughtsTokenCount);
  const total = countOf(counts?.totalTokenCount);
  const output = written === undefined && thought === undefined ? undefined : (written ?? 0) + (thought ?? 0);
  if (input === undefined && output === undefined) return undefined;
  return {
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(thought === undefined ? {} : { reasoning: thought }),
    ...(total === undefined ? {} : { total }),
  };
}
