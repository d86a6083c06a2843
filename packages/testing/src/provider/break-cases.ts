import { isAgentError, type ModelChunk, vendorMessageOf } from "@loopwright/core";
import { expectSame, expectThat } from "../kit/kit.ts";
import { expectSoon } from "../kit/store-expectation.ts";
import { collectAnswer } from "./collect-answer.ts";
import {
  agentErrorOf,
  callAnswer,
  type ModelProviderCase,
  patienceMs,
  plainAnswer,
  playing,
  rejectionOf,
  sampleRequest,
  startCall,
  withSubject,
} from "./provider-samples.ts";
import { type MakeModelProvider, type ModelProviderSubject, type WireFate, type WireScript, wireErrorText } from "./wire.ts";

const reason = new Error("The person went away.");

/** Aborts once the wire has sent everything before its silence, and returns the rejection of the call. */
function abortIn(make: MakeModelProvider, script: WireScript): Promise<unknown> {
  return withSubject(make, script, async (subject) => {
    const abort = new AbortController();
    const call = startCall(subject, { signal: abort.signal });
    let hasEnded = false;
    const ended = (): void => {
      hasEnded = true;
    };
    call.then(ended, ended);
    await silenceOf(subject);
    abort.abort(reason);
    await expectSoon(() => hasEnded, { what: "the aborted call ends", withinMs: subject.patienceMs ?? patienceMs });
    return rejectionOf(call);
  });
}

function silenceOf(subject: ModelProviderSubject): Promise<void> {
  const what = "the request arrives and the wire falls silent";
  return expectSoon(() => subject.isSilent(), { what, withinMs: subject.patienceMs ?? patienceMs });
}

function hangUpOf(subject: ModelProviderSubject): Promise<void> {
  return expectSoon(() => subject.hangUps() > 0, { what: "the connection is closed", withinMs: subject.patienceMs ?? patienceMs });
}

function abortCase(id: string, where: string, script: WireScript): ModelProviderCase {
  return {
    id,
    promise: `an abort ${where} ends the call with the signal's reason or an AgentError, never as if complete`,
    async run(make) {
      const error = await abortIn(make, script);
      expectThat(error === reason || isAgentError(error), `the call rejected with ${String(error)}`);
    },
  };
}

const leavingCases: readonly ModelProviderCase[] = [
  {
    id: "abort-at-first",
    promise: "a call whose signal is aborted already sends nothing",
    async run(make) {
      await withSubject(make, playing(plainAnswer), async (subject) => {
        await rejectionOf(collectAnswer(subject.provider, sampleRequest(subject), { signal: AbortSignal.abort(reason) }));
        expectSame(subject.requests.length, 0, "requests");
      });
    },
  },
  abortCase("abort-before-headers", "before the headers", { type: "silence" }),
  abortCase("abort-in-text", "in the middle of the text", playing(plainAnswer, "text")),
  abortCase("abort-in-arguments", "in the middle of the arguments", playing({ ...callAnswer, text: [] }, "arguments")),
  {
    id: "abort-hangs-up",
    promise: "an abort closes the connection",
    async run(make) {
      await withSubject(make, playing(plainAnswer, "text"), async (subject) => {
        const abort = new AbortController();
        startCall(subject, { signal: abort.signal });
        await silenceOf(subject);
        abort.abort(reason);
        await hangUpOf(subject);
      });
    },
  },
  {
    id: "leaving-hangs-up",
    promise: "a consumer that leaves early closes the connection",
    async run(make) {
      await withSubject(make, playing(callAnswer, "before-end"), async (subject) => {
        const { signal } = new AbortController();
        for await (const _batch of subject.provider.stream(sampleRequest(subject), { signal, attempt: 1 })) break;
        await hangUpOf(subject);
      });
    },
  },
];

/** Lets the answer end at every border between its events, and asks for an error each time. */
async function breakEverywhere(make: MakeModelProvider, fate: WireFate): Promise<void> {
  const last = await withSubject(make, playing(callAnswer), async (subject) => subject.eventsBeforeEnd);
  expectThat(last >= 1, "the wire sends its whole answer in one event");
  for (let events = 1; events <= last; events++) {
    const error = await agentErrorOf(make, playing(callAnswer, { events }, fate));
    const allowed = fate === "end" ? ["MODEL_STREAM_BROKEN"] : ["MODEL_STREAM_BROKEN", "MODEL_UNREACHABLE"];
    expectThat(allowed.includes(error.code), `after ${events} events: ${error.code}: ${error.message}`);
    expectThat(error.retryable, `after ${events} events: the error is not retryable`);
  }
}

/** The chunks that a call hands on before it fails; signs of life do not count. */
function chunksBeforeError(make: MakeModelProvider, script: WireScript): Promise<readonly ModelChunk[]> {
  return withSubject(make, script, async (subject) => {
    const chunks: ModelChunk[] = [];
    const onBatch = (batch: readonly ModelChunk[]): void => void chunks.push(...batch.filter(({ type }) => type !== "alive"));
    // Whether it fails at all is checked by other cases.
    await collectAnswer(subject.provider, sampleRequest(subject), { onBatch }).catch(() => undefined);
    return chunks;
  });
}

const textOf = (chunks: readonly ModelChunk[]): string => chunks.map((chunk) => (chunk.type === "text" ? chunk.delta : "")).join("");

/** Puts the error behind each event in turn: in a read of its own, then in one read with all that came before it. */
async function failEverywhere(make: MakeModelProvider, fate: "error" | "garbage"): Promise<void> {
  const last = await withSubject(make, playing(callAnswer), async (subject) => subject.eventsBeforeEnd);
  for (let events = 1; events <= last; events++) {
    const script = (chunking: "event" | "whole"): WireScript => ({
      type: "answer",
      answer: callAnswer,
      chunking,
      stop: { at: { events }, fate },
    });
    const apart = await chunksBeforeError(make, script("event"));
    const together = await chunksBeforeError(make, script("whole"));
    expectSame(together, apart, `${fate} after ${events} events, chunks before it`);
    if (events === last) expectSame(textOf(together), callAnswer.text?.join(""), `${fate} after ${events} events, text before it`);
  }
}

/** The behaviour of a provider when the answer breaks off, and when the consumer leaves. */
export const breakCases: readonly ModelProviderCase[] = [
  ...leavingCases,
  {
    id: "no-end",
    promise: "an answer that ends cleanly without its terminal event is MODEL_STREAM_BROKEN, at every border between events",
    run: (make) => breakEverywhere(make, "end"),
  },
  {
    id: "cut",
    promise: "a connection that is cut is MODEL_STREAM_BROKEN or MODEL_UNREACHABLE, at every border between events",
    run: (make) => breakEverywhere(make, "cut"),
  },
  {
    id: "drop",
    promise: "a connection that dies before the headers is a retryable AgentError of the network",
    async run(make) {
      const { code, retryable } = await agentErrorOf(make, { type: "drop" });
      expectThat(["MODEL_UNREACHABLE", "MODEL_STREAM_BROKEN"].includes(code) && retryable, `the error was ${code}, retryable ${retryable}`);
    },
  },
  {
    id: "error-event",
    promise: "an error inside a stream that began well is the vendor's error, with its own words for the operator",
    async run(make) {
      const error = await agentErrorOf(make, playing(plainAnswer, "text", "error"));
      const isNotified = error.code !== "MODEL_STREAM_BROKEN" && vendorMessageOf(error)?.includes(wireErrorText);
      expectThat(isNotified === true, `the error was ${error.code}: ${error.message}; for the operator: ${vendorMessageOf(error)}`);
    },
  },
  {
    id: "trailer-error",
    promise: "an answer whose trailers report that it failed is the vendor's error and has no end chunk, though its body came whole",
    needs: ["trailers"],
    async run(make) {
      await withSubject(make, playing(plainAnswer, "text", "trailer-error"), async (subject) => {
        const types: string[] = [];
        const onBatch = (batch: readonly ModelChunk[]): void => void types.push(...batch.map(({ type }) => type));
        const error = await rejectionOf(collectAnswer(subject.provider, sampleRequest(subject), { onBatch }));
        expectThat(
          isAgentError(error) && vendorMessageOf(error)?.includes(wireErrorText) === true,
          `the call rejected with ${String(error)}`,
        );
        expectThat(!types.includes("end"), "the answer had an end chunk");
      });
    },
  },
  {
    id: "garbage",
    promise: "an event of broken JSON is an error, not skipped",
    async run(make) {
      const { code } = await agentErrorOf(make, playing(plainAnswer, "text", "garbage"));
      expectThat(["MODEL_PROTOCOL", "MODEL_STREAM_BROKEN"].includes(code), `the error was ${code}`);
    },
  },
  {
    id: "kept-before-error",
    promise: "what came before an error is handed on before the error is thrown, in the same read as in an earlier one",
    async run(make) {
      await failEverywhere(make, "error");
      await failEverywhere(make, "garbage");
    },
  },
  {
    id: "redirect",
    promise: "a redirect is never followed, on any status: the other server receives nothing, and the error names it and no key",
    async run(make) {
      for (const status of [301, 302, 303, 307, 308]) {
        await withSubject(make, { type: "redirect", status }, async (subject) => {
          const error = await rejectionOf(collectAnswer(subject.provider, sampleRequest(subject)));
          expectSame(subject.elsewhere.requests, [], `requests to the other server after status ${status}`);
          expectThat(isAgentError(error, "MODEL_REDIRECTED"), `status ${status}: the call rejected with ${String(error)}`);
          expectThat(!error.retryable, `status ${status}: the error is retryable`);
          expectThat(error.message.includes(subject.elsewhere.origin), `status ${status}: the message was ${error.message}`);
          const notified = JSON.stringify([error.message, error.fix, error.details]);
          expectThat(!notified.includes(subject.key), `status ${status}: the key is in ${notified}`);
        });
      }
    },
  },
  {
    id: "page",
    promise: "a page of HTML with status 200 is MODEL_PROTOCOL or MODEL_STREAM_BROKEN",
    async run(make) {
      const body = "<!doctype html><html><body>Sign in to the network</body></html>";
      const { code } = await agentErrorOf(make, { type: "raw", status: 200, contentType: "text/html", body });
      expectThat(["MODEL_PROTOCOL", "MODEL_STREAM_BROKEN"].includes(code), `the error was ${code}`);
    },
  },
  {
    id: "empty",
    promise: "an empty body with status 200 is MODEL_STREAM_BROKEN or MODEL_PROTOCOL",
    async run(make) {
      const { code } = await agentErrorOf(make, { type: "raw", status: 200, contentType: "text/event-stream", body: "" });
      expectThat(["MODEL_STREAM_BROKEN", "MODEL_PROTOCOL"].includes(code), `the error was ${code}`);
    },
  },
];
