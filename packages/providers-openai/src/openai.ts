import type { JsonObject, ModelChunk } from "@loopwright/core";
import { AgentError, refuseUnknownOptions } from "@loopwright/core";
import type { ModelCallIo, ModelCapabilities, ModelProvider, ModelRequest } from "@loopwright/core/ports";
import {
  AnswerStream,
  decodeSoundly,
  errorFromFetch,
  failureIn,
  mapSse,
  readWholeJson,
  type SseConsumer,
  type SseEvent,
} from "@loopwright/provider-kit";
import { createChatRequests } from "./chat-request.ts";
import { ChatReader } from "./chat-response.ts";
import { bodyText } from "./conversation.ts";
import { type CallContext, notTheApi } from "./errors.ts";
import { capabilitiesOf, defaultModel } from "./models.ts";
import { environment, knownOptions, type OpenAiOptions, type OpenAiSettings, requireKey, settingsOf } from "./options.ts";
import { refuseImages } from "./request-cache.ts";
import { createResponsesRequests } from "./responses-request.ts";
import { ResponsesReader } from "./responses-response.ts";
import { createSender, type Send } from "./sender.ts";
import type { WireReader } from "./wire-reader.ts";

/** All that an instance makes once, at its first use. */
interface Instance {
  readonly settings: OpenAiSettings;
  readonly bodyOf: (request: ModelRequest) => JsonObject;
  send?: Promise<Send>;
}

/**
 * A provider for OpenAI and for every server that speaks its chat completions or responses API. Costs nothing until it is used:
 * the environment is read and the SDK imported with the first call. The SDK builds what requests have in common; retries and time-outs are the runtime's.
 * @throws AgentError in `stream`: MODEL_KEY_MISSING, CONFIG_INVALID, MODEL_UNSUPPORTED before any request, then as the port says.
 */
export function openai(options: OpenAiOptions = {}): ModelProvider {
  refuseUnknownOptions(options, knownOptions, "the provider `openai`");
  let made: Instance | undefined;
  const instance = (): Instance => {
    if (made === undefined) {
      const settings = settingsOf(options, environment());
      made = { settings, bodyOf: settings.api === "chat" ? createChatRequests(settings.compat) : createResponsesRequests(settings) };
    }
    return made;
  };
  const capabilities = (model: string): ModelCapabilities => ({
    ...capabilitiesOf(model, instance().settings.compat),
    ...options.capabilities,
  });
  return {
    name: options.name ?? "openai",
    get defaultModel() {
      return options.model ?? (instance().settings.isOpenAi ? defaultModel : "");
    },
    capabilities,
    checkTools: ({ length }) => {
      if (length > toolsMax && instance().settings.isOpenAi) throw tooManyTools(length);
    },
    stream: (request, io) => {
      const { streaming, vision } = capabilities(request.model);
      return call(instance(), { request: streaming ? request : { ...request, stream: false }, io, options, vision });
    },
  };
}

/** @see https://platform.openai.com/docs/api-reference/chat/create (`tools`) */
const toolsMax = 128;

const tooManyTools = (count: number): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `OpenAI takes at most ${toolsMax} tools, and the agent has ${count}.`,
    fix: "Give the agent fewer tools, or several agents some of them each.",
  });

interface Call {
  readonly request: ModelRequest;
  readonly io: ModelCallIo;
  readonly options: OpenAiOptions;
  readonly vision: boolean;
}

function call(instance: Instance, { request, io, options, vision }: Call): AsyncIterable<readonly ModelChunk[]> {
  const { settings } = instance;
  const { signal } = io;
  return new AnswerStream(async () => {
    signal.throwIfAborted();
    refuseUnsendable(request, { settings, vision });
    const key = requireKey(settings);
    const context: CallContext = { provider: settings.label, signal, secrets: key === undefined ? [] : [key] };
    const reader = settings.api === "chat" ? new ChatReader(context) : new ResponsesReader(context);
    const body = instance.bodyOf(request);
    instance.send ??= createSender(settings, key, options);
    try {
      const send = await instance.send;
      const response = await send({ body: bodyText(body), isStreamed: body["stream"] === true, context });
      const bytes = bodyOf(response, settings.label);
      if (isJson(response)) return readWhole(reader, await readWholeJson(response), context);
      return mapSse(bytes, new Consumer(reader, { ...context, streaming: true }));
    } catch (error) {
      throw errorFromFetch(error, context);
    }
  });
}

/** @throws AgentError CONFIG_INVALID without a model, MODEL_UNSUPPORTED for images that the model cannot see. */
function refuseUnsendable(request: ModelRequest, { settings, vision }: { settings: OpenAiSettings; vision: boolean }): void {
  if (request.model === "") {
    throw new AgentError("CONFIG_INVALID", {
      message: `No model was named for ${settings.label}.`,
      fix: "Pass `model`; each server has names of its own.",
    });
  }
  if (!vision) refuseImages(request, settings.label);
}

/** One array per read of the socket. After the vendor's last event the rest is read and dropped, so that the connection can be used again. */
class Consumer implements SseConsumer<readonly ModelChunk[]> {
  readonly #reader: WireReader;
  readonly #context: CallContext;
  #ended = false;
  failure: ReturnType<typeof failureIn>;

  constructor(reader: WireReader, context: CallContext) {
    this.#reader = reader;
    this.#context = context;
  }

  take(events: readonly SseEvent[]): readonly ModelChunk[] | undefined {
    const reader = this.#reader;
    return this.#chunksOf((out) => {
      for (const { event, data } of events) if (!reader.done) reader.take(event, data, out);
      if (reader.done) this.#finish(out);
      else if (out.length === 0) out.push(alive);
    });
  }

  finish(): readonly ModelChunk[] | undefined {
    return this.#chunksOf((out) => this.#finish(out));
  }

  /** What breaks after the end breaks nothing. */
  fail(error: unknown): unknown {
    return this.#ended ? undefined : errorFromFetch(error, this.#context);
  }

  /** The chunks that `work` adds; what came before an error is kept, and the error thrown behind it. */
  #chunksOf(work: (out: ModelChunk[]) => void): readonly ModelChunk[] | undefined {
    if (this.#ended) return undefined;
    const out: ModelChunk[] = [];
    this.failure = failureIn(() => decodeSoundly(out, () => work(out)));
    return out.length === 0 ? undefined : out;
  }

  #finish(out: ModelChunk[]): void {
    this.#context.signal.throwIfAborted();
    this.#reader.finish(out);
    this.#ended = true;
  }
}

const alive: ModelChunk = { type: "alive" };

/** What came before an error is given before it is thrown, as in a stream. */
async function* readWhole(reader: WireReader, body: unknown, context: CallContext): AsyncGenerator<readonly ModelChunk[], undefined> {
  const out: ModelChunk[] = [];
  const failure = failureIn(() =>
    decodeSoundly(out, () => {
      context.signal.throwIfAborted();
      reader.takeWhole(body, out);
      reader.finish(out);
    }),
  );
  if (out.length > 0) yield out;
  if (failure) throw errorFromFetch(failure.error, context);
}

/** Some servers answer a streamed request in one piece; what counts is what came. */
function isJson(response: Response): boolean {
  return response.headers.get("content-type")?.includes("json") ?? false;
}

function bodyOf(response: Response, provider: string): ReadableStream<Uint8Array> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/html")) throw notTheApi(provider, "a page of HTML");
  if (response.body === null) throw notTheApi(provider, "nothing");
  return response.body;
}
