import { AgentError, isAgentError, type ModelChunk } from "@loopwright/core";
import { honestParts, type ReadEvent, readLines } from "./honest-provider.ts";
import { type ModelProviderSaboteur, saboteur, withParts } from "./provider-saboteurs.ts";

const asIfComplete: readonly ModelChunk[] = [{ type: "end", stopReason: "stop", raw: "stop" }];

/** One that takes an abort for the end of the answer, when the last event was such a one. */
function deafIn(breaks: string, where: string, isThere: (last: ReadEvent | undefined) => boolean): ModelProviderSaboteur {
  return withParts(breaks, `takes an abort ${where} for the end of the answer`, {
    aborted: (signal, last) => (isThere(last) ? asIfComplete : honestParts.aborted(signal, last)),
  });
}

/** What they get wrong is an answer that breaks off, or a consumer that does. */
export const breakSaboteurs: readonly ModelProviderSaboteur[] = [
  saboteur("abort-at-first", "sends before it looks at the signal", () => ({
    wrap: (provider, wire) => ({
      ...provider,
      async *stream(request, io) {
        if (io.signal.aborted) await wire.send({ path: "/v1/chat", body: honestParts.bodyOf(request) }, io.signal);
        yield* provider.stream(request, io);
      },
    }),
  })),
  deafIn("abort-before-headers", "before the headers", (last) => last === undefined),
  deafIn("abort-in-text", "in the text", (last) => last?.text !== undefined),
  deafIn("abort-in-arguments", "in the arguments", (last) => last?.args !== undefined),
  withParts("abort-hangs-up", "leaves the connection open when it is aborted", {
    lines: (body, signal) => readLines(body, signal, { closesOn: ["leaving"] }),
  }),
  withParts("leaving-hangs-up", "leaves the connection open when the consumer leaves", {
    lines: (body, signal) => readLines(body, signal, { closesOn: ["abort"] }),
  }),
  withParts("no-end", "takes the end of the body for the end of the answer", {
    unfinished: (count, last) => (count > 0 ? asIfComplete : honestParts.unfinished(count, last)),
  }),
  withParts("empty", "takes an empty body for an empty answer", {
    unfinished: (count, last) => (count === 0 ? asIfComplete : honestParts.unfinished(count, last)),
  }),
  saboteur("cut", "takes a cut connection for the end of the answer", () => ({
    wrap: (provider) => ({
      ...provider,
      async *stream(request, io) {
        try {
          yield* provider.stream(request, io);
        } catch (error) {
          // Only a cut has a cause.
          if (!isAgentError(error, "MODEL_STREAM_BROKEN") || error.cause === undefined) throw error;
          yield asIfComplete;
        }
      },
    }),
  })),
  withParts("drop", "takes a connection that died for one that always will", {
    trouble: (error, streaming) =>
      streaming ? honestParts.trouble(error, true) : new AgentError("MODEL_UNREACHABLE", { message: "No memory.", retryable: false }),
  }),
  saboteur("error-event", "knows no error events", () => ({
    wrap: (provider) => ({
      ...provider,
      async *stream(request, io) {
        try {
          yield* provider.stream(request, io);
        } catch (error) {
          if (!isAgentError(error) || !error.message.includes("reported")) throw error;
          throw new AgentError("MODEL_STREAM_BROKEN", { message: "The answer of memory ended without its stop." });
        }
      },
    }),
  })),
  withParts("trailer-error", "does not look at trailers", { trailers: () => undefined }),
  withParts("garbage", "skips what it cannot read", {
    parse: (line) => {
      try {
        return honestParts.parse(line);
      } catch {
        return undefined;
      }
    },
  }),
  withParts("kept-before-error", "drops the read in which an error comes", { before: () => [] }),
  withParts("redirect", "follows redirects", {
    redirected: (location, { wire, body }) => {
      wire.elsewhere.requests.push({ path: "/v1/chat", body });
      return honestParts.redirected(location, { wire, body });
    },
  }),
  withParts("redirect", "repeats the whole address of a redirect", {
    redirected: (location) => new AgentError("MODEL_REDIRECTED", { message: `Memory sent the call on to ${location}.` }),
  }),
  withParts("page", "takes a page for an empty answer", { page: () => asIfComplete }),
];
