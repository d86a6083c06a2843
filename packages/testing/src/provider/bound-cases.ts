import { isAgentError } from "@loopwright/core";
import { expectThat } from "../kit/kit.ts";
import { expectSoon } from "../kit/store-expectation.ts";
import { collectAnswer } from "./collect-answer.ts";
import { type ModelProviderCase, patienceMs, rejectionOf, sampleRequest, withSubject } from "./provider-samples.ts";
import type { MakeModelProvider, WireScript } from "./wire.ts";

type Flood = Extract<WireScript, { readonly type: "flood" }>;

/** Asks for the error for an endless body, and for the connection to be closed: an error after the whole flood was read leaves none to close. */
async function refuseFlood(make: MakeModelProvider, flood: Omit<Flood, "type">, isRetryable: boolean): Promise<void> {
  await withSubject(make, { type: "flood", ...flood }, async (subject) => {
    const error = await rejectionOf(collectAnswer(subject.provider, sampleRequest(subject)));
    expectThat(isAgentError(error), `the call rejected with ${String(error)}`);
    const isKnown = isRetryable ? error.code !== "INTERNAL" : error.code === "MODEL_PROTOCOL";
    expectThat(isKnown && error.retryable === isRetryable, `the error was ${error.code}, retryable ${error.retryable}: ${error.message}`);
    const withinMs = subject.patienceMs ?? patienceMs;
    await expectSoon(() => subject.hangUps() > 0, { what: "the connection is closed before the body has ended", withinMs });
  });
}

/** What a provider makes of bodies that never end. Each is given up at a bound of the provider's own, and no more of it is read. */
export const boundCases: readonly ModelProviderCase[] = [
  {
    id: "endless-page",
    promise: "of an error page without an end only the beginning is read; the error is that of its status",
    run: (make) => refuseFlood(make, { status: 502, contentType: "text/html", head: "<html><title>Bad gateway</title>" }, true),
  },
  {
    id: "endless-whole",
    promise: "JSON without an end in place of a stream is MODEL_PROTOCOL, not retryable, and the connection is closed",
    run: (make) => refuseFlood(make, { status: 200, contentType: "application/json", head: '{"text":"' }, false),
  },
  {
    id: "endless-event",
    promise: "an event without an end is MODEL_PROTOCOL, not retryable, and the connection is closed",
    run: (make) => refuseFlood(make, { status: 200, head: 'data: {"text":"' }, false),
  },
];
