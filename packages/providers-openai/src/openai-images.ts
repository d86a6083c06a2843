import { AgentError, refuseUnknownOptions } from "@loopwright/core";
import type { ImageGenerator, ImageRequest } from "@loopwright/core/ports";
import { countOf, createImageGenerator, type ImageAnswer, listIn, recordIn } from "@loopwright/provider-kit";
import { failureOf } from "./errors.ts";
import { environment, type OpenAiOptions, type OpenAiSettings, requireKey, settingsOf } from "./options.ts";
import { createSender } from "./sender.ts";

/** Options of `openaiImages`. */
export interface OpenAiImagesOptions
  extends Pick<OpenAiOptions, "apiKey" | "baseURL" | "organization" | "project" | "name" | "transport" | "headers"> {
  /** Default: `gpt-image-2.5-flare` for OpenAI itself, none elsewhere. */
  readonly model?: string;
  /** Default: the vendor chooses. More costs more. */
  readonly quality?: "low" | "medium" | "high";
}

const knownOptions: { readonly [Name in keyof OpenAiImagesOptions]-?: true } = {
  apiKey: true,
  baseURL: true,
  organization: true,
  project: true,
  name: true,
  transport: true,
  headers: true,
  model: true,
  quality: true,
};

/**
 * The model where none is named.
 * @see https://developers.openai.com/api/docs/guides/image-generation (2026-11-23)
 */
const defaultModel = "gpt-image-2.5-flare";

const sizes: { readonly [Shape in NonNullable<ImageRequest["shape"]>]: string } = {
  square: "1024x1024",
  landscape: "1536x1024",
  portrait: "1024x1536",
};

interface WireAnswer {
  readonly data?: readonly { readonly b64_json?: unknown }[] | null;
  readonly usage?: { readonly input_tokens?: unknown; readonly output_tokens?: unknown; readonly total_tokens?: unknown } | null;
}

/**
 * A generator of pictures for OpenAI and for every server that has its `/images/generations`, with the headers for organisation and project. Costs
 * nothing until it is used.
 * @throws AgentError CONFIG_INVALID for an unknown option; in `generate`: MODEL_KEY_MISSING, CONFIG_INVALID before any request, then the errors of the port
 */
export function openaiImages(options: OpenAiImagesOptions = {}): ImageGenerator {
  refuseUnknownOptions(options, knownOptions, "the image generator `openaiImages`");
  const { model: _, quality, ...connection } = options;
  let made: OpenAiSettings | undefined;
  const settings = (): OpenAiSettings => {
    made ??= settingsOf(connection, environment());
    return made;
  };
  const modelName = (): string => options.model ?? (settings().isOpenAi ? defaultModel : "");
  return createImageGenerator({
    name: options.name ?? "openai",
    get label() {
      return settings().label;
    },
    get model() {
      return modelName();
    },
    transport: options.transport,
    bodyOf: ({ prompt, shape }) => ({
      model: requireModel(modelName(), settings().label),
      prompt,
      n: 1,
      // OpenAI's models always answer in base64 and refuse the field; other servers would answer with an address.
      ...(settings().isOpenAi ? {} : { response_format: "b64_json" }),
      ...(shape === undefined ? {} : { size: sizes[shape] }),
      ...(quality === undefined ? {} : { quality }),
    }),
    connect: async () => {
      const key = requireKey(settings());
      const send = await createSender(settings(), key, { ...options, path: "/images/generations" });
      return { secrets: key === undefined ? [] : [key], send: (call) => send({ ...call, streaming: false }) };
    },
    answerOf,
    failureOf: (failure) => failureOf(failure, settings().label),
  });
}

function requireModel(model: string, label: string): string {
  if (model !== "") return model;
  throw new AgentError("CONFIG_INVALID", { message: `No model for pictures was named for ${label}.`, fix: "Pass `model`." });
}

function answerOf(answer: unknown): ImageAnswer {
  const { data, usage } = recordIn(answer as WireAnswer | null, "an answer") ?? {};
  const [image] = listIn(data, "a list of pictures");
  const counts = recordIn(usage, "a usage");
  const input = countOf(counts?.input_tokens);
  const output = countOf(counts?.output_tokens);
  const total = countOf(counts?.total_tokens);
  const spent = {
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(total === undefined ? {} : { total }),
  };
  return { data: recordIn(image, "a picture")?.b64_json, usage: Object.keys(spent).length === 0 ? undefined : spent };
}
