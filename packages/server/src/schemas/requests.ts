import {
  type ExecuteInput,
  type ExecuteOptions,
  idPattern,
  type JsonObject,
  type Retention,
  type ToolResultMessage,
  type UserMessage,
} from "@loopwright/core/protocol";
import { z } from "zod";
import {
  executeInput,
  type InputOptions,
  inputMode,
  parentId,
  type RequestOptions,
  requestOptions,
  runOptions,
  type SessionContext,
  sessionContext,
} from "./input.ts";
import { jsonObject, listOf } from "./json.ts";
import { toolResultMessage, userMessage } from "./message.ts";
import { exactly } from "./schema-of-type.ts";
import { retention } from "./session.ts";

/** Body of `POST /api/agent/execute`. */
export interface ExecuteRequest {
  readonly sessionId?: string;
  readonly agent?: string;
  readonly input: ExecuteInput;
  /** For a new session. */
  readonly context?: SessionContext;
  readonly options?: RequestOptions;
  /** The version of the dialect in which the stream is sent; the deployment must have it. Default: the events unchanged. */
  readonly streamVersion?: number;
  /** True: the run is stopped when the caller closes the stream before its end. Default: it runs on. */
  readonly stopsWithStream?: boolean;
}

/** Body of `POST /api/sessions`. */
export interface NewSessionRequest {
  readonly id?: string;
  readonly agent?: string;
  readonly title?: string;
  readonly metadata?: JsonObject;
  readonly context?: SessionContext;
}

/** Body of `POST /api/sessions/:id/fork`. */
export interface ForkRequest {
  /** The last message that the new session has. Default: the head of the source. */
  readonly message?: string;
  /** In place of `message`: the number of an event. The new session has what people had seen then. */
  readonly at?: number;
  /** A prompt in place of that of the agent. From trusted callers only. */
  readonly context?: Pick<SessionContext, "systemPrompt">;
  readonly id?: string;
  /** Default: the agent of the source. */
  readonly agent?: string;
  /** Default: the title of the source. */
  readonly title?: string;
  readonly metadata?: JsonObject;
}

/** Body of `PATCH /api/sessions/:id`. */
export interface ChangeSessionRequest {
  readonly title?: string;
  readonly metadata?: JsonObject;
  readonly head?: string | null;
  readonly retention?: Retention;
  /** Keys of calls whose decisions are no longer remembered. */
  readonly forget?: readonly string[];
}

/** Body of `PUT /api/sessions/:id/hold`. */
export interface HoldRequest {
  readonly reason?: string;
}

/** Body of `POST /api/sessions/:id/messages`: one of `input`, `message` and `regenerate`. */
export interface MessageRequest {
  readonly input?: ExecuteInput;
  readonly message?: string | UserMessage;
  readonly regenerate?: string;
  readonly mode?: NonNullable<ExecuteOptions["mode"]>;
  readonly parent?: string | null;
  readonly options?: InputOptions;
  /** The version of the dialect in which `/api/notifications` is to stream the run; the answer names that dialect. */
  readonly streamVersion?: number;
}

/** Body of `POST /api/sessions/:id/tool-results`. */
export interface ToolResultsRequest {
  readonly results: readonly ToolResultMessage[];
}

/** Body of `POST /api/sessions/:id/abort`. */
export interface AbortRequest {
  readonly reason?: string;
  /** Default: the open run. */
  readonly runId?: string;
  /** In place of `runId`: the `Idempotency-Key` of the input that the run answers. */
  readonly inputKey?: string;
}

const sessionId = z.string().regex(idPattern, "Use 1 to 64 of a-z, 0-9, _ and -, beginning with a letter or digit");
const agentName = z.string().max(64);
const title = z.string().max(500);

type Optional<T> = z.ZodExactOptional<z.ZodType<T>>;

/** The fields of a body beside its input. */
export const executeFields: {
  readonly sessionId: Optional<string>;
  readonly agent: Optional<string>;
  readonly context: Optional<SessionContext>;
  readonly options: Optional<RequestOptions>;
  readonly streamVersion: Optional<number>;
  readonly stopsWithStream: Optional<boolean>;
} = {
  sessionId: sessionId.exactOptional(),
  agent: agentName.exactOptional(),
  context: sessionContext.exactOptional(),
  options: requestOptions.exactOptional(),
  streamVersion: z.int().min(1).max(99).exactOptional(),
  stopsWithStream: z.boolean().exactOptional(),
};

export const executeRequest: z.ZodType<ExecuteRequest> = exactly<ExecuteRequest>()(z.object({ ...executeFields, input: executeInput }));

export const newSessionRequest: z.ZodType<NewSessionRequest> = exactly<NewSessionRequest>()(
  z.object({
    id: sessionId.exactOptional(),
    agent: agentName.exactOptional(),
    title: title.exactOptional(),
    metadata: jsonObject.exactOptional(),
    context: sessionContext.exactOptional(),
  }),
);

export const forkRequest: z.ZodType<ForkRequest> = exactly<ForkRequest>()(
  z
    .object({
      message: z.string().max(64).exactOptional(),
      at: z.int().min(1).exactOptional(),
      context: z.object({ systemPrompt: z.string().min(1).max(20_000).exactOptional() }).exactOptional(),
      id: sessionId.exactOptional(),
      agent: agentName.exactOptional(),
      title: title.exactOptional(),
      metadata: jsonObject.exactOptional(),
    })
    .refine(({ message, at }) => message === undefined || at === undefined, "Send `message` or `at`, not both"),
);

export const changeSessionRequest: z.ZodType<ChangeSessionRequest> = exactly<ChangeSessionRequest>()(
  z
    .object({
      title: title.exactOptional(),
      metadata: jsonObject.exactOptional(),
      head: parentId.exactOptional(),
      retention: retention.exactOptional(),
      forget: listOf(z.string().max(200))
        .refine((callKeys) => callKeys.length <= 100, "At most 100")
        .exactOptional(),
    })
    .refine((change) => Object.keys(change).length > 0, "Send at least one of `title`, `metadata`, `head`, `retention` and `forget`"),
);

export const holdRequest: z.ZodType<HoldRequest> = exactly<HoldRequest>()(z.object({ reason: z.string().max(1_000).exactOptional() }));

const sources = ["input", "message", "regenerate"] as const;

const hasOneSource = (body: { readonly [name: string]: unknown }): boolean =>
  sources.filter((name) => body[name] !== undefined).length === 1;
/** The flaw of a body with none or several of the input fields. */
export const oneSource = "Send one of `input`, `message` and `regenerate`";

/** The fields of a message's body beside its input. */
export const messageFields: {
  readonly mode: Optional<NonNullable<ExecuteOptions["mode"]>>;
  readonly parent: Optional<string | null>;
  readonly options: Optional<InputOptions>;
  readonly streamVersion: Optional<number>;
} = {
  mode: inputMode.exactOptional(),
  parent: parentId.exactOptional(),
  options: runOptions.exactOptional(),
  streamVersion: executeFields.streamVersion,
};

/** A message: text, or a message of a user. */
export const messageContent: z.ZodType<string | UserMessage> = z.union([z.string(), userMessage]);
/** Id of a message to answer again. */
export const regenerateId: z.ZodType<string> = z.string().max(64);

export const messageRequest: z.ZodType<MessageRequest> = exactly<MessageRequest>()(
  z
    .object({
      input: executeInput.exactOptional(),
      message: messageContent.exactOptional(),
      regenerate: regenerateId.exactOptional(),
      ...messageFields,
    })
    .refine(hasOneSource, oneSource),
);

/** Results of calls. */
export const toolResults: z.ZodType<readonly ToolResultMessage[]> = listOf(toolResultMessage);

export const toolResultsRequest: z.ZodType<ToolResultsRequest> = exactly<ToolResultsRequest>()(z.object({ results: toolResults }));

export const abortRequest: z.ZodType<AbortRequest> = exactly<AbortRequest>()(
  z.object({
    reason: z.string().max(500).exactOptional(),
    runId: z.string().max(64).exactOptional(),
    inputKey: z.string().max(200).exactOptional(),
  }),
);
