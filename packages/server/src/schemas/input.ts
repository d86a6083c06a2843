import type { DeclaredTool, ExecuteInput, ExecuteOptions, Labels, RunOptions } from "@loopwright/core/protocol";
import { z } from "zod";
import { jsonObject, listOf } from "./json.ts";
import { message, toolResultMessage, userMessage } from "./message.ts";
import { exactly } from "./schema-of-type.ts";

/** What begins or continues a run. */
export const executeInput: z.ZodType<ExecuteInput> = exactly<ExecuteInput>()(
  z.union([z.string(), userMessage, listOf(toolResultMessage), z.object({ regenerate: z.string() })]),
);

/** One entry of a label that holds a list. */
const listed = z.string().regex(/^[\w.:-]{1,80}$/, "Use 1 to 80 letters, digits, _, ., : and -");

/** Characters of the JSON text of a schema of `output`: it is recorded with each input. */
const outputSchemaMax = 20_000;

/** The schema of an answer. */
export const outputForm: z.ZodType<NonNullable<RunOptions["output"]>> = exactly<NonNullable<RunOptions["output"]>>()(
  z.strictObject({
    name: z.string(),
    schema: jsonObject.refine(
      (schema) => JSON.stringify(schema).length <= outputSchemaMax,
      `The schema has more than ${outputSchemaMax} characters.`,
    ),
  }),
);

const runFields = {
  model: z.string().min(1).max(200).exactOptional(),
  temperature: z.number().min(0).max(2).exactOptional(),
  maxTokens: z.int().min(1).exactOptional(),
  reasoningEffort: z.enum(["minimal", "low", "medium", "high"]).exactOptional(),
  /** In place of the agent's prompt, for this run alone. From trusted callers only. */
  systemPrompt: z.string().min(1).max(20_000).exactOptional(),
  output: outputForm.exactOptional(),
  /** Labels by names that the deployment has declared. */
  labels: z.record(z.string().max(64), z.string().max(200)).exactOptional(),
  /** The label `surface`. */
  surface: z.string().max(64).exactOptional(),
  /** The label `activeModule`. */
  activeModule: z.string().max(200).exactOptional(),
  /** The label `modes`. */
  modes: listOf(listed).exactOptional(),
  /** The label `toolsRequired`. */
  toolsRequired: z.boolean().exactOptional(),
  /** Keys of files of the scope, which become parts of the message: the label `attachments`. */
  attachments: listOf(listed).exactOptional(),
  /** The label `chatbotId`. */
  chatbotId: z.string().min(1).max(64).exactOptional(),
};

/** The labels of an input in a request: some labels have their own field. */
export interface LabelledOptions {
  readonly labels?: Labels;
  readonly surface?: string;
  readonly activeModule?: string;
  readonly modes?: readonly string[];
  readonly toolsRequired?: boolean;
  readonly attachments?: readonly string[];
  readonly chatbotId?: string;
}

/** What one input may choose, with its labels. */
export type InputOptions = RunOptions & LabelledOptions;

/** What one input may choose, with its labels. */
export const runOptions: z.ZodType<InputOptions> = exactly<InputOptions>()(z.strictObject(runFields));

type Mode = NonNullable<ExecuteOptions["mode"]>;
type Parent = NonNullable<ExecuteOptions["parent"]> | null;

/** What happens to the input when a run is open. */
export const inputMode: z.ZodType<Mode> = exactly<Mode>()(z.enum(["enqueue", "steer", "interrupt", "merge", "reject"]));
/** The message to continue. */
export const parentId: z.ZodType<Parent> = exactly<Parent>()(z.string().max(64).nullable());

/** The options of an input on the execute route. */
export type RequestOptions = Omit<ExecuteOptions, "idempotencyKey" | "signal" | "labels" | "trace"> & LabelledOptions;

/** The run's options, and how the input joins the session. */
export const requestOptions: z.ZodType<RequestOptions> = exactly<RequestOptions>()(
  z.strictObject({
    ...runFields,
    mode: inputMode.exactOptional(),
    parent: parentId.exactOptional(),
  }),
);

/** A client tool that comes with a session. Fields that a client adds to run the tool are left out. */
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
