import type {
  AssistantMessage,
  CallOutcome,
  Message,
  NoticeMessage,
  ProgressStep,
  ToolResultMessage,
  UserMessage,
} from "@loopwright/core/protocol";
import { z } from "zod";
import { assistantPart, cost, resultPart, usage, userPart } from "./content.ts";
import { json, listOf } from "./json.ts";
import { exactly } from "./schema-of-type.ts";

/** How one call ended. */
export const callOutcome: z.ZodType<CallOutcome> = exactly<CallOutcome>()(
  z.enum(["ok", "error", "interrupted", "denied", "expired", "aborted"]),
);

/** A message of a user. */
export const userMessage: z.ZodType<UserMessage> = exactly<UserMessage>()(
  z.object({ role: z.literal("user"), content: z.union([z.string(), listOf(userPart)]) }),
);

/** A message of a model. */
export const assistantMessage: z.ZodType<AssistantMessage> = exactly<AssistantMessage>()(
  z.object({
    role: z.literal("assistant"),
    content: listOf(assistantPart),
    stopReason: z.enum(["stop", "length", "tool_calls", "aborted", "error"]),
    stopReasonRaw: z.string().exactOptional(),
    errorMessage: z.string().exactOptional(),
    provider: z.string().exactOptional(),
    model: z.string().exactOptional(),
    usage: usage.exactOptional(),
    cost: cost.exactOptional(),
  }),
);

/** The fields of a step that a tool reported. */
export const progressFields: {
  readonly id: z.ZodString;
  readonly title: z.ZodString;
  readonly icon: z.ZodExactOptional<z.ZodString>;
  readonly state: z.ZodEnum<{ open: "open"; done: "done"; failed: "failed" }>;
} = { id: z.string(), title: z.string(), icon: z.string().exactOptional(), state: z.enum(["open", "done", "failed"]) };
export const progressStep: z.ZodType<ProgressStep> = exactly<ProgressStep>()(z.object(progressFields));

/** The result of a call. */
export const toolResultMessage: z.ZodType<ToolResultMessage> = exactly<ToolResultMessage>()(
  z.object({
    role: z.literal("tool_result"),
    toolCallId: z.string(),
    callKey: z.string().exactOptional(),
    toolName: z.string().exactOptional(),
    content: z.union([z.string(), listOf(resultPart)]),
    isError: z.boolean().exactOptional(),
    outcome: callOutcome.exactOptional(),
    details: json.exactOptional(),
    durationMs: z.number().exactOptional(),
    progress: listOf(progressStep).exactOptional(),
  }),
);

const noticeMessage: z.ZodType<NoticeMessage> = exactly<NoticeMessage>()(z.object({ role: z.literal("notice"), text: z.string() }));

/** Any message of a transcript. */
export const message: z.ZodType<Message> = z.union([userMessage, assistantMessage, toolResultMessage, noticeMessage]);
