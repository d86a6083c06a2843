import {
  AgentError,
  type ErrorCode,
  isAgentError,
  type JsonObject,
  type ModelChunk,
  type ModelProvider,
  type ModelRequest,
  vendorMessageOf,
} from "@loopwright/core";
import type { MakeModelProvider } from "../../src/provider/wire.ts";
import { type HonestFailure, type HonestParts, honestKey, honestParts, memorySubject, type Spoil } from "./honest-provider.ts";

/** A provider with one defect: the proof that the kit can fail. */
export interface ModelProviderSaboteur {
  /** Continues "a provider that ...". */
  readonly defect: string;
  /** Id of the one promise that it breaks. */
  readonly breaks: string;
  readonly make: MakeModelProvider;
}

/** A saboteur from what it changes; `spoil` is asked anew for every subject. */
export function saboteur(breaks: string, defect: string, spoil: () => Spoil): ModelProviderSaboteur {
  return { breaks, defect, make: (script) => memorySubject(script, spoil()) };
}

/** A saboteur that replaces parts of the honest provider. */
export function withParts(breaks: string, defect: string, parts: Partial<HonestParts>): ModelProviderSaboteur {
  return saboteur(breaks, defect, () => ({ parts }));
}

/** A saboteur that sees every chunk of an answer and returns others; `change` is made anew for every call. */
export function withChunks(
  breaks: string,
  defect: string,
  change: (request: ModelRequest) => (chunk: ModelChunk) => readonly ModelChunk[],
): ModelProviderSaboteur {
  const wrap = (provider: ModelProvider): ModelProvider => ({
    ...provider,
    async *stream(request, io) {
      const each = change(request);
      for await (const batch of provider.stream(request, io)) yield batch.flatMap(each);
    },
  });
  return saboteur(breaks, defect, () => ({ wrap }));
}

/** A saboteur that alters the body of every request. */
export function withBody(
  breaks: string,
  defect: string,
  change: (body: JsonObject, request: ModelRequest) => JsonObject,
): ModelProviderSaboteur {
  return withParts(breaks, defect, { bodyOf: (request) => change(honestParts.bodyOf(request), request) });
}

function withFailure(
  breaks: string,
  defect: string,
  change: (error: AgentError, failure: HonestFailure, body: JsonObject) => AgentError,
): ModelProviderSaboteur {
  return withParts(breaks, defect, { failure: (failure, body) => change(honestParts.failure(failure, body), failure, body) });
}

const wrongCodes: readonly (readonly [number, ErrorCode])[] = [
  [400, "MODEL_PROTOCOL"],
  [401, "MODEL_BAD_REQUEST"],
  [402, "MODEL_BAD_REQUEST"],
  [403, "MODEL_BAD_REQUEST"],
  [404, "MODEL_BAD_REQUEST"],
  [408, "MODEL_BAD_REQUEST"],
  [429, "MODEL_OVERLOADED"],
  [500, "MODEL_BAD_REQUEST"],
  [503, "MODEL_TIMEOUT"],
  [529, "MODEL_RATE_LIMITED"],
];

function remade(
  error: AgentError,
  more: {
    readonly code?: ErrorCode;
    readonly message?: string;
    readonly retryAfterMs?: number | undefined;
    readonly vendorMessage?: string | undefined;
  },
): AgentError {
  const { code, message, retryAfterMs } = error;
  return new AgentError(more.code ?? code, {
    message: more.message ?? message,
    retryAfterMs: "retryAfterMs" in more ? more.retryAfterMs : retryAfterMs,
    vendorMessage: "vendorMessage" in more ? more.vendorMessage : vendorMessageOf(error),
  });
}

const kitSentence = "The kit made this call fail.";

/** Defects in reporting a vendor's errors. */
export const errorSaboteurs: readonly ModelProviderSaboteur[] = [
  ...wrongCodes.map(([status, code]) =>
    withFailure(`status-${status}`, `takes status ${status} for ${code}`, (error, failure) =>
      // Failures that another promise is about keep their code.
      failure.status === status && failure.message === kitSentence && !failure.overflow && failure.retryAfter === undefined
        ? remade(error, { code })
        : error,
    ),
  ),
  withFailure("overflow", "takes a prompt that is too long for a bad request", (error, { overflow }) =>
    overflow ? remade(error, { code: "MODEL_BAD_REQUEST" }) : error,
  ),
  withFailure("retry-after", "takes seconds for milliseconds", (error, { retryAfter }) =>
    error.retryAfterMs === undefined || retryAfter === undefined ? error : remade(error, { retryAfterMs: error.retryAfterMs / 1_000 }),
  ),
  withFailure("wait-in-body", "looks for a wait in the headers alone", (error, { retryAfter }) =>
    retryAfter === undefined ? remade(error, { retryAfterMs: undefined }) : error,
  ),
  withFailure("retry-after-garbage", "takes a wait that it cannot read for no wait", (error, { retryAfter }) =>
    retryAfter === "soon" ? remade(error, { retryAfterMs: 0 }) : error,
  ),
  withFailure("own-words", "keeps the vendor's words to itself", (error, { message }) =>
    message === kitSentence ? remade(error, { vendorMessage: undefined }) : error,
  ),
  withFailure("proxy-page", "takes a page with status 502 for a protocol of its own", (error, { status }) =>
    status === 502 ? remade(error, { code: "MODEL_PROTOCOL" }) : error,
  ),
  saboteur("no-retry", "tries again by itself", () => ({
    wrap: (provider) => ({
      ...provider,
      async *stream(request, io) {
        try {
          yield* provider.stream(request, io);
        } catch (error) {
          // Loudly only where the failure may pass.
          if (!isAgentError(error, "MODEL_OVERLOADED") || !error.message.includes("500")) throw error;
          yield* provider.stream(request, io);
        }
      },
    }),
  })),
  withFailure("key-repeated", "repeats the vendor's words without a look at them", (error, { status, message }) =>
    status === 401 ? remade(error, { message: `Memory answered with status 401: ${message}` }) : error,
  ),
  withFailure("key-repeated", "looks for the key as it is and in no other spelling", (error, { status, message }) =>
    status === 401 ? remade(error, { vendorMessage: message.replaceAll(honestKey, "[removed]") }) : error,
  ),
  withFailure("prompt-repeated", "shows its callers the vendor's words without the key", (error, { status, message }) =>
    status === 422 ? remade(error, { message: `Memory answered with status ${status}: ${message}` }) : error,
  ),
  withParts("prompt-repeated", "shows its callers what an error event states", {
    reported: (written) => {
      const vendorMessage = vendorMessageOf(honestParts.reported(written));
      return new AgentError("MODEL_OVERLOADED", { message: `Memory reported an error: ${vendorMessage}`, vendorMessage });
    },
  }),
  withFailure("key-in-causes", "hangs the request on its error", (error, { status }) =>
    status === 500
      ? new AgentError(error.code, {
          message: error.message,
          vendorMessage: vendorMessageOf(error),
          cause: { request: { headers: new Headers({ authorization: `Bearer ${honestKey}` }) } },
        })
      : error,
  ),
  withParts("key-in-broken-connection", "names the address with the key in it when the connection fails", {
    trouble: (error, streaming) =>
      streaming
        ? honestParts.trouble(error, true)
        : new AgentError("MODEL_UNREACHABLE", { message: `No answer from https://memory/?key=${honestKey}.` }),
  }),
  withFailure("prompt-in-errors", "hangs the refused body on its error", (error, { status }, body) =>
    status === 400
      ? new AgentError(error.code, { message: error.message, details: { body }, vendorMessage: vendorMessageOf(error) })
      : error,
  ),
];
