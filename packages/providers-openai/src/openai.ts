import type { JsonObject } from "@loopwright/core";
import { AgentError, type ProviderEntry, providerEntry, refuseUnknownOptions } from "@loopwright/core";
import type { ModelCapabilities, ModelProvider, ModelRequest } from "@loopwright/core/ports";
import { createStreamingProvider, sse } from "@loopwright/provider-kit";
import { ChatDecoder } from "./chat-decoder.ts";
import { createChatRequests } from "./chat-request.ts";
import { bodyText } from "./conversation.ts";
import { failureOf } from "./errors.ts";
import { capabilitiesOf, defaultModel } from "./models.ts";
import { environment, knownOptions, type OpenAiOptions, type OpenAiSettings, requireKey, settingsOf } from "./options.ts";
import { refuseImages } from "./request-cache.ts";
import { ResponsesDecoder } from "./responses-decoder.ts";
import { createResponsesRequests } from "./responses-request.ts";
import { createSender } from "./sender.ts";

/** What an instance makes once, at its first use: it reads the environment. */
interface Instance {
  readonly settings: OpenAiSettings;
  readonly bodyOf: (request: ModelRequest) => JsonObject;
}

/**
 * A provider for OpenAI and for every server that speaks its chat completions or responses API. Costs nothing until it is used:
 * the environment is read and the SDK imported with the first call. The SDK builds what requests have in common; retries and time-outs are the runtime's.
 * @throws AgentError in `stream`: MODEL_KEY_MISSING, CONFIG_INVALID, MODEL_UNSUPPORTED before any request, then the errors of the port.
 */
export const openai: ProviderEntry<OpenAiOptions> = providerEntry(createOpenAi);

function createOpenAi(options: OpenAiOptions = {}): ModelProvider {
  refuseUnknownOptions(options, knownOptions, "the provider `openai`");
  let made: Instance | undefined;
  const instance = (): Instance => {
    made ??= createInstance(options);
    return made;
  };
  const capabilities = (model: string): ModelCapabilities => ({
    ...capabilitiesOf(model, instance().settings.compat),
    ...options.capabilities,
  });
  return createStreamingProvider({
    name: options.name ?? "openai",
    get label() {
      return instance().settings.label;
    },
    get defaultModel() {
      return options.model ?? (instance().settings.isOpenAi ? defaultModel : "");
    },
    transport: options.transport,
    framing: sse,
    capabilities,
    checkTools: ({ length }) => {
      if (length > toolsMax && instance().settings.isOpenAi) throw tooManyTools(length);
    },
    bodyOf: (request, { capabilities: { vision }, streaming }) => {
      const { settings, bodyOf } = instance();
      refuseUnsendable(request, { settings, vision });
      return bodyText(bodyOf({ ...request, stream: streaming }));
    },
    connect: async () => {
      const { settings } = instance();
      const key = requireKey(settings);
      return { secrets: key === undefined ? [] : [key], send: await createSender(settings, key, options) };
    },
    createDecoder: ({ secrets }) => {
      const { api, label } = instance().settings;
      const context = { provider: label, secrets };
      return api === "chat" ? new ChatDecoder(context) : new ResponsesDecoder(context);
    },
    parse: (event) => event,
    failureOf: (failure) => failureOf(failure, instance().settings.label),
  });
}

function createInstance(options: OpenAiOptions): Instance {
  const settings = settingsOf(options, environment());
  return { settings, bodyOf: settings.api === "chat" ? createChatRequests(settings.compat) : createResponsesRequests(settings) };
}

/** @see https://platform.openai.com/docs/api-reference/chat/create (`tools`) */
const toolsMax = 128;

const tooManyTools = (count: number): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `OpenAI takes at most ${toolsMax} tools, and the agent has ${count}.`,
    fix: "Give the agent fewer tools, or divide them among several agents.",
  });

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
