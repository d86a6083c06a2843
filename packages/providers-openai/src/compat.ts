/** How a server with OpenAI's chat completions API differs from OpenAI's own. The defaults are those of `otherServer`. */
export interface OpenAiCompat {
  /** The field that limits the answer. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /** The role of the system prompt. */
  readonly systemRole: "system" | "developer";
  /** How a notice in mid-history is sent: with the system prompt's role, or as a marked text of the user's. */
  readonly notices: "system" | "user";
  /** Whether `stream_options: {include_usage: true}` is understood. */
  readonly streamOptions: boolean;
  readonly parallelToolCalls: boolean;
  /** Whether a tool may have `strict: true`. */
  readonly strictTools: boolean;
  /** The word for "call some tool". */
  readonly requiredToolChoice: "required" | "any";
  /** How an answer of a schema is asked for; `json_object` puts the schema into the system prompt. */
  readonly structuredOutput: "json_schema" | "json_object";
  /** How reasoning is asked for. `thinking` is on or off alone. */
  readonly reasoning: "reasoning_effort" | "reasoning" | "thinking" | "none";
  /** Which part of an earlier answer's reasoning is sent back: none, the text in the field it came in, or the whole `reasoning_details`. */
  readonly reasoningReplay: "none" | "text" | "details";
  /** Which ids of tool calls are accepted: up to 40 of `[A-Za-z0-9_-]`, or exactly nine letters and digits. */
  readonly callIds: "any" | "nine";
  /** Whether a user message may follow a tool's result. */
  readonly userAfterTool: boolean;
  /** Whether two user messages may stand side by side. */
  readonly userAfterUser: boolean;
  /** Whether `prompt_cache_key` is understood. */
  readonly promptCacheKey: boolean;
  /** Whether tools may be sent. */
  readonly tools: boolean;
  /** Whether images may be sent, where the model is not known. */
  readonly vision: boolean;
}

/** A server that is known by its host. */
export interface KnownServer {
  /** For people. */
  readonly label: string;
  /** The host, or the end of it after a dot. */
  readonly hosts: readonly string[];
  /** The variable with its key. */
  readonly keyVariable: string;
  readonly compat: Partial<OpenAiCompat>;
}

/** For unknown servers (vLLM, llama.cpp, LM Studio, gateways): only what nearly all of them support. */
export const otherServer: OpenAiCompat = {
  maxTokensField: "max_tokens",
  systemRole: "system",
  notices: "user",
  streamOptions: true,
  parallelToolCalls: true,
  strictTools: false,
  requiredToolChoice: "required",
  structuredOutput: "json_schema",
  reasoning: "reasoning_effort",
  reasoningReplay: "none",
  callIds: "any",
  userAfterTool: true,
  userAfterUser: true,
  promptCacheKey: false,
  tools: true,
  vision: true,
};

const openAiItself: Partial<OpenAiCompat> = {
  maxTokensField: "max_completion_tokens",
  systemRole: "developer",
  notices: "system",
  strictTools: true,
  promptCacheKey: true,
};

/** OpenAI's own host. */
export const openAiHost = "api.openai.com";

/**
 * The servers known by name, as their own API references describe them (2026-11-21). The first that fits counts.
 * @see https://platform.openai.com/docs/api-reference/chat
 * @see https://openrouter.ai/docs/api-reference/overview
 * @see https://console.groq.com/docs/openai
 * @see https://api-docs.deepseek.com/api/create-chat-completion
 * @see https://docs.mistral.ai/api
 * @see https://docs.z.ai/api-reference/llm/chat-completion
 * @see https://docs.perplexity.ai/api-reference/chat-completions-post
 */
export const knownServers: readonly KnownServer[] = [
  { label: "OpenAI", hosts: [openAiHost], keyVariable: "OPENAI_API_KEY", compat: openAiItself },
  {
    label: "Azure OpenAI",
    hosts: ["openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"],
    keyVariable: "AZURE_OPENAI_API_KEY",
    compat: openAiItself,
  },
  {
    label: "OpenRouter",
    hosts: ["openrouter.ai"],
    keyVariable: "OPENROUTER_API_KEY",
    compat: { reasoning: "reasoning", reasoningReplay: "details", notices: "system" },
  },
  { label: "Groq", hosts: ["api.groq.com"], keyVariable: "GROQ_API_KEY", compat: { maxTokensField: "max_completion_tokens" } },
  {
    label: "DeepSeek",
    hosts: ["api.deepseek.com"],
    keyVariable: "DEEPSEEK_API_KEY",
    compat: { reasoning: "thinking", reasoningReplay: "text", structuredOutput: "json_object", parallelToolCalls: false, vision: false },
  },
  {
    label: "Mistral",
    hosts: ["api.mistral.ai"],
    keyVariable: "MISTRAL_API_KEY",
    compat: { requiredToolChoice: "any", callIds: "nine", userAfterTool: false, reasoning: "none" },
  },
  {
    label: "Z.ai",
    hosts: ["api.z.ai", "open.bigmodel.cn"],
    keyVariable: "ZAI_API_KEY",
    compat: { reasoning: "thinking", reasoningReplay: "text", structuredOutput: "json_object", parallelToolCalls: false },
  },
  {
    label: "Moonshot",
    hosts: ["api.moonshot.ai", "api.moonshot.cn"],
    keyVariable: "MOONSHOT_API_KEY",
    compat: { reasoning: "none", reasoningReplay: "text" },
  },
  {
    label: "Perplexity",
    hosts: ["api.perplexity.ai"],
    keyVariable: "PERPLEXITY_API_KEY",
    compat: { tools: false, parallelToolCalls: false, userAfterUser: false },
  },
  { label: "xAI", hosts: ["api.x.ai"], keyVariable: "XAI_API_KEY", compat: { reasoningReplay: "text" } },
  { label: "Together", hosts: ["api.together.xyz", "api.together.ai"], keyVariable: "TOGETHER_API_KEY", compat: {} },
  { label: "Fireworks", hosts: ["api.fireworks.ai"], keyVariable: "FIREWORKS_API_KEY", compat: {} },
  { label: "Cerebras", hosts: ["api.cerebras.ai"], keyVariable: "CEREBRAS_API_KEY", compat: { maxTokensField: "max_completion_tokens" } },
  { label: "Gemini", hosts: ["generativelanguage.googleapis.com"], keyVariable: "GEMINI_API_KEY", compat: { parallelToolCalls: false } },
  { label: "Ollama", hosts: ["ollama.com"], keyVariable: "OLLAMA_API_KEY", compat: { parallelToolCalls: false } },
];

/** The server behind an address, where it is known. */
export function knownServerOf(url: URL): KnownServer | undefined {
  const name = url.hostname.toLowerCase();
  return knownServers.find((server) => server.hosts.some((host) => name === host || name.endsWith(`.${host}`)));
}

/** True for an address of this machine or a private name: no key is needed there. */
export function isLocalServer(url: URL): boolean {
  const name = url.hostname.toLowerCase();
  return name === "localhost" || name === "[::1]" || /^127\.|\.(?:local|localhost|internal)$/.test(name) || !/[.:]/.test(name);
}
