import type {
  AssistantPart,
  Cost,
  FilePart,
  ImagePart,
  JsonPart,
  MediaSource,
  OpaquePart,
  ResultPart,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  Usage,
  UserPart,
} from "@loopwright/core/protocol";
import { z } from "zod";
import { json, jsonObject, listOf } from "./json.ts";
import { exactly } from "./schema-of-type.ts";

const opaque = z.object({ vendor: z.string(), data: json });

const mediaSource: z.ZodType<MediaSource> = exactly<MediaSource>()(
  z.union([
    z.object({ data: z.string(), url: z.never().exactOptional(), blob: z.never().exactOptional() }),
    z.object({ url: z.string(), data: z.never().exactOptional(), blob: z.never().exactOptional() }),
    z.object({
      blob: z.string(),
      data: z.never().exactOptional(),
      url: z.never().exactOptional(),
      sizeBytes: z.int().min(0).exactOptional(),
      shownBytes: z.int().min(0).exactOptional(),
    }),
  ]),
);

const textPart: z.ZodType<TextPart> = exactly<TextPart>()(
  z.object({ type: z.literal("text"), text: z.string(), opaque: opaque.exactOptional() }),
);
const imagePart: z.ZodType<ImagePart> = exactly<ImagePart>()(
  z.object({ type: z.literal("image"), mediaType: z.string(), source: mediaSource }),
);
const filePart: z.ZodType<FilePart> = exactly<FilePart>()(
  z.object({ type: z.literal("file"), mediaType: z.string(), name: z.string().exactOptional(), source: mediaSource }),
);
const jsonPart: z.ZodType<JsonPart> = exactly<JsonPart>()(z.object({ type: z.literal("json"), value: json }));
const thinkingPart: z.ZodType<ThinkingPart> = exactly<ThinkingPart>()(
  z.object({ type: z.literal("thinking"), text: z.string(), opaque: opaque.exactOptional() }),
);
const opaquePart: z.ZodType<OpaquePart> = exactly<OpaquePart>()(z.object({ type: z.literal("opaque"), vendor: z.string(), data: json }));

/** A call as the model asked for it. */
export const toolCallPart: z.ZodType<ToolCallPart> = exactly<ToolCallPart>()(
  z.object({
    type: z.literal("tool_call"),
    callKey: z.string(),
    id: z.string(),
    name: z.string(),
    args: jsonObject,
    argsText: z.string().exactOptional(),
    problem: z.enum(["invalid_json", "truncated", "not_an_object", "too_deep", "forbidden_key"]).exactOptional(),
    notStored: z.literal(true).exactOptional(),
    opaque: opaque.exactOptional(),
  }),
);

/** A part of a user message. */
export const userPart: z.ZodType<UserPart> = z.union([textPart, imagePart, filePart, jsonPart]);
/** A part of a tool's result. */
export const resultPart: z.ZodType<ResultPart> = z.union([textPart, imagePart, filePart, jsonPart]);
/** A part of an assistant message. */
export const assistantPart: z.ZodType<AssistantPart> = z.union([textPart, thinkingPart, toolCallPart, imagePart, opaquePart]);

const count = z.number().exactOptional();

/** The tokens of a model call. */
export const usage: z.ZodType<Usage> = exactly<Usage>()(
  z.object({
    input: count,
    cacheRead: count,
    cacheWrite: count,
    output: count,
    reasoning: count,
    total: count,
    tools: listOf(z.string()).exactOptional(),
    source: z.enum(["reported", "estimated"]).exactOptional(),
  }),
);

/** Money. */
export const cost: z.ZodType<Cost> = exactly<Cost>()(z.object({ totalUsd: z.number(), partial: z.boolean().exactOptional() }));
