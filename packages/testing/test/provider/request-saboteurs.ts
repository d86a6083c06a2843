import type { Json, JsonObject, Message, ToolResultMessage, UserMessage } from "@loopwright/core";
import { honestParts } from "./honest-provider.ts";
import { type ModelProviderSaboteur, saboteur, withBody, withParts } from "./provider-saboteurs.ts";

/** One that alters the messages of the body. */
function withMessages(breaks: string, defect: string, change: (message: JsonObject) => JsonObject | undefined): ModelProviderSaboteur {
  return withBody(breaks, defect, (body) => {
    const messages = listOf(body["messages"]);
    return { ...body, messages: messages.map(change).filter((message) => message !== undefined) };
  });
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : [];
}

function withoutImages(message: Message): Message {
  if (message.role !== "user" || typeof message.content === "string") return message;
  return { ...message, content: message.content.filter(({ type }) => type !== "image") } satisfies UserMessage;
}

/** Everything foreign passed off as one's own. */
function adopted(message: Message): Message {
  if (message.role !== "assistant") return message;
  const content = message.content.map((part) =>
    part.type === "thinking" && part.opaque ? { ...part, opaque: { ...part.opaque, vendor: "memory" } } : part,
  );
  return { ...message, content };
}

/** One that alters the results on the wire; `change` is also given the message that each was made of. */
function withResults(
  breaks: string,
  defect: string,
  change: (result: JsonObject, message: ToolResultMessage) => JsonObject,
): ModelProviderSaboteur {
  return withBody(breaks, defect, (body, { messages }) => {
    const results = messages.filter((message) => message.role === "tool_result");
    let at = 0;
    const changed = listOf(body["messages"]).map((sent) => {
      const message = sent["role"] === "result" ? results[at++] : undefined;
      return message ? change(sent, message) : sent;
    });
    return { ...body, messages: changed };
  });
}

let cacheKeys = 0;

/** The object without one member. */
function without(name: string): (object: JsonObject) => JsonObject {
  return (object) => Object.fromEntries(Object.entries(object).filter(([each]) => each !== name));
}

/** What they get wrong is what is sent, or when. */
export const requestSaboteurs: readonly ModelProviderSaboteur[] = [
  saboteur("lazy", "sends as soon as it is asked for a stream", () => ({
    wrap: (provider) => ({
      ...provider,
      stream(request, io) {
        const batches = provider.stream(request, io)[Symbol.asyncIterator]();
        const first = batches.next();
        first.catch(() => undefined);
        return (async function* () {
          try {
            for (let batch = await first; !batch.done; batch = await batches.next()) yield batch.value;
          } finally {
            await batches.return?.();
          }
        })();
      },
    }),
  })),
  saboteur("capabilities", "refuses to speak of models that it does not know", () => ({
    wrap: (provider) => ({
      ...provider,
      capabilities(model) {
        if (!model.startsWith("memory-")) throw new Error("Unknown model.");
        return provider.capabilities(model);
      },
    }),
  })),
  withBody("no-tools", "sends an empty list of tools", (body) => ({ tools: [], ...body })),
  withBody("no-temperature", "has a temperature of its own", (body) => ({ temperature: 1, ...body })),
  withBody("model", "asks for its favourite model", (body) => ({ ...body, model: "memory-1" })),
  withBody("system", "forgets the system prompt", ({ system: _system, ...body }) => body as JsonObject),
  withBody("system", "sends the first part of the system prompt alone", (body) =>
    "system" in body ? { ...body, system: String(body["system"]).split("\n\n")[0] ?? "" } : body,
  ),
  withMessages("messages", "forgets what the model has sent", (message) =>
    JSON.stringify(message).includes("It is fine.") ? undefined : message,
  ),
  withBody("max-tokens", "drops the limit of tokens", without("limit")),
  withBody("output", "drops the schema of the answer", without("output")),
  withBody("tool-choice", "drops the tool that has to be called", without("choice")),
  withBody("one-call", "drops the wish for one call at a time", without("parallel")),
  withBody("cache-key", "drops the key of the cache", without("cache")),
  withBody("cache-key", "has a new key of the cache for every request", (body) =>
    "cache" in body ? { ...body, cache: `key ${cacheKeys++}` } : body,
  ),
  withParts("cache-key-taken", "refuses the key of a cache that it does not have", {
    isUnsupported: (request) => request.cacheKey !== undefined || honestParts.isUnsupported(request),
  }),
  withResults("results-named", "takes the name of a result for the id of its call", (result, { toolCallId }) => ({
    ...result,
    of: toolCallId,
  })),
  withResults("results-named", "knows the tool of a result only where it is named", (result, { toolName }) => ({
    ...result,
    name: toolName ?? "tool",
  })),
  withBody("blank-messages", "sends an answer of which nothing is left", (body, { messages }) => {
    const { length } = messages.filter(({ role }) => role === "assistant");
    const sent = listOf(body["messages"]).filter(({ role }) => role === "assistant").length;
    return sent < length ? { ...body, messages: [...listOf(body["messages"]), { role: "assistant", parts: [] }] } : body;
  }),
  withMessages("blank-messages", "sends what a user has left blank", (message) =>
    message["content"] === "(nothing)" ? { ...message, content: "" } : message,
  ),
  withMessages("blank-messages", "leaves no message at all of what a user has left blank", (message) =>
    message["content"] === "(nothing)" ? undefined : message,
  ),
  withMessages("blank-messages", "drops an answer with a blank text in it", (message) =>
    JSON.stringify(message).includes("FINE-CANARY") ? undefined : message,
  ),
  withBody("reasoning", "drops the wish for reasoning where it knows the model", (body) =>
    body["model"] === "memory-1" ? without("reasoning")(body) : body,
  ),
  withBody("reasoning", "drops a budget of reasoning", (body) =>
    body["model"] === "memory-1" && "budgetTokens" in ((body["reasoning"] ?? {}) as JsonObject) ? without("reasoning")(body) : body,
  ),
  withBody("reasoning-unknown", "drops the wish for reasoning where it does not know the model", (body) =>
    body["model"] === "memory-1" ? body : without("reasoning")(body),
  ),
  withParts("reasoning-lacking", "drops the wish for reasoning where the model has none", {
    isUnsupported: ({ reasoning: _reasoning, ...request }) => honestParts.isUnsupported(request),
    bodyOf: (request) =>
      request.model === "memory-quick" ? without("reasoning")(honestParts.bodyOf(request)) : honestParts.bodyOf(request),
  }),
  withMessages("notices", "forgets notices", (message) => (message["role"] === "system" ? undefined : message)),
  withMessages("error-results", "takes every result for a good one", without("failed")),
  withMessages("error-results", "takes a result that emits nothing for a good one", (message) =>
    message["content"] === '""' ? without("failed")(message) : message,
  ),
  withMessages("error-results", "takes a result that is a value for a good one", (message) =>
    String(message["content"]).includes('"json"') ? without("failed")(message) : message,
  ),
  withParts("error-results", "refuses a result that is an error", {
    isUnsupported: (request) =>
      request.messages.some((message) => message.role === "tool_result" && message.isError) || honestParts.isUnsupported(request),
  }),
  withBody("tools", "sends tools without descriptions", (body, { tools }) =>
    tools && tools.length > 0 ? { ...body, tools: tools.map(({ name, parameters }) => ({ name, parameters })) } : body,
  ),
  withMessages("results", "forgets what tools have answered", (message) =>
    message["role"] === "result" && JSON.stringify(message).includes("RESULT-CANARY") ? undefined : message,
  ),
  withParts("vendor-options", "sends only the options that it knows", {
    bodyOf: ({ vendorOptions: _options, ...request }) => honestParts.bodyOf(request),
  }),
  withParts("image", "leaves images out", {
    bodyOf: (request) => honestParts.bodyOf({ ...request, messages: request.messages.map(withoutImages) }),
  }),
  withParts("image-refused", "sends images to a model without vision", { isUnsupported: () => false }),
  withMessages("opaque-back", "keeps signed thinking to itself", (message) =>
    message["parts"] ? { ...message, parts: listOf(message["parts"]).filter((part) => !("signature" in part)) } : message,
  ),
  withParts("opaque-foreign", "sends what another vendor has signed", {
    bodyOf: (request) => honestParts.bodyOf({ ...request, messages: request.messages.map(adopted) }),
  }),
];
