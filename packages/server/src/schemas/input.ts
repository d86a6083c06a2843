import type { DeclaredTool, ExecuteInput, ExecuteOptions, RunOptions } from "@loopwright/core/protocol";
import { z } from "zod";
import { exactly } from "./exactly.ts";
import { jsonObject, listOf } from "./json.ts";
import { message, toolResultMessage, userMessage } from "./message.ts";

/** What a run begins or goes on with. */
export const executeInput: z.ZodType<ExecuteInput> = exactly<ExecuteInput>()(
  z.union([z.string(), userMessage, listOf(toolResultMessage), z.object({ regenerate: z.string() })]),
);

const runFields = {
  model: z.string().min(1).max(200).exactOptional(),
  temperature: z.number().min(0).max(2).exactOptional(),
  maxTokens: z.int().min(1).exactOptional(),
  reasoningEffort: z.enum(["minimal", "low", "medium", "high"]).exactOptional(),
  surface: z.string().max(64).exactOptional(),
  activeModule: z.string().max(200).exactOptional(),
};

/** What one input may choose. */
export const runOptions: z.ZodType<RunOptions> = exactly<RunOptions>()(z.strictObject(runFields));

type Mode = NonNullable<ExecuteOptions["mode"]>;
type Parent = NonNullable<ExecuteOptions["parent"]> | null;

/** What happens when a run is open. */
export const inputMode: z.ZodType<Mode> = exactly<Mode>()(z.enum(["enqueue", "steer", "interrupt", "reject"]));
/** The message to continue. */
export const parentId: z.ZodType<Parent> = exactly<Parent>()(z.string().max(64).nullable());

/** How the input of the execute route is to be answered. */
export type RequestOptions = Omit<ExecuteOptions, "idempotencyKey" | "signal">;

/** The run's options, and how the input joins the session. */
export const requestOptions: z.ZodType<RequestOptions> = exactly<RequestOptions>()(
  z.strictObject({
    ...runFields,
    mode: inputMode.exactOptional(),
    parent: parentId.exactOptional(),
  }),
);

/** A client tool that comes with a session. What a client adds to run it is left out. */
export const declaredTool: z.ZodType<DeclaredTool> = exactly<DeclaredTool>()(
  z.object({
    name: z
      .string()
      .regex(
        /^(?!(?:__proto__|constructor|prototype)$)[a-zA-Z0-9_-]{1,64}$/,
        "Use 1 to 64 letters, digits, _ and -, and no name that all objects have",
      ),
    description: z.string(),
    parameters: jsonObject,
    label: z.string().exactOptional(),
    timeoutMs: z.int().min(0).max(2_147_483_647).exactOptional(),
  }),
);

/** What a new session begins with. */
export interface SessionContext {
  readonly systemPrompt?: string;
  readonly messages?: readonly z.output<typeof message>[];
  readonly tools?: readonly DeclaredTool[];
}

/** What a new session begins with. */
export const sessionContext: z.ZodType<SessionContext> = exactly<SessionContext>()(
  z.object({
    systemPrompt: z.string().exactOptional(),
    messages: listOf(message).exactOptional(),
    tools: listOf(declaredTool).exactOptional(),
  }),
);
