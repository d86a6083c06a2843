import { type ErrorCode, vendorMessageOf } from "@loopwright/core";
import { expectSame, expectThat } from "../kit/kit.ts";
import { collectAnswer } from "./collect-answer.ts";
import {
  agentErrorOf,
  type ModelProviderCase,
  plainAnswer,
  playing,
  promptCanary,
  rejectionOf,
  sampleRequest,
  withSubject,
} from "./provider-samples.ts";
import type { MakeModelProvider, WireScript } from "./wire.ts";

const written = "The kit made this call fail.";

function failing(
  status: number,
  more: { readonly message?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): WireScript {
  return { type: "failure", status, message: written, ...more };
}

const table: readonly (readonly [number, ErrorCode, boolean])[] = [
  [400, "MODEL_BAD_REQUEST", false],
  [401, "MODEL_AUTH", false],
  [402, "MODEL_QUOTA_EXHAUSTED", false],
  [403, "MODEL_AUTH", false],
  [404, "MODEL_NOT_FOUND", false],
  [408, "MODEL_TIMEOUT", true],
  [429, "MODEL_RATE_LIMITED", true],
  [500, "MODEL_OVERLOADED", true],
  [503, "MODEL_OVERLOADED", true],
  [529, "MODEL_OVERLOADED", true],
];

const statusCases: readonly ModelProviderCase[] = table.map(([status, code, retryable]) => ({
  id: `status-${status}`,
  promise: `status ${status} is ${code}, ${retryable ? "retryable" : "not retryable"}`,
  async run(make) {
    const error = await agentErrorOf(make, failing(status));
    expectSame([error.code, error.retryable], [code, retryable], "code and retryable");
  },
}));

const wordCases: readonly ModelProviderCase[] = [
  {
    id: "overflow",
    promise: "a prompt that is too long is CONTEXT_OVERFLOW, not retryable",
    async run(make) {
      const error = await agentErrorOf(make, { type: "failure", status: 400, message: written, overflow: true });
      expectSame([error.code, error.retryable], ["CONTEXT_OVERFLOW", false], "code and retryable");
    },
  },
  {
    id: "retry-after",
    promise: "the wait that the vendor asks for is handed on in milliseconds",
    async run(make) {
      const error = await agentErrorOf(make, failing(429, { headers: { "retry-after": "7" } }));
      expectSame(error.retryAfterMs, 7_000, "retryAfterMs");
    },
  },
  {
    id: "wait-in-body",
    promise: "the wait that the vendor names in the body of its error is handed on in milliseconds",
    needs: ["body-waits"],
    async run(make) {
      const error = await agentErrorOf(make, { type: "failure", status: 429, message: written, waitMs: 7_000 });
      expectSame(error.retryAfterMs, 7_000, "retryAfterMs");
    },
  },
  {
    id: "retry-after-garbage",
    promise: "a wait that is no number and no date is left out",
    async run(make) {
      const error = await agentErrorOf(make, failing(503, { headers: { "retry-after": "soon" } }));
      expectSame(error.retryAfterMs, undefined, "retryAfterMs");
    },
  },
  {
    id: "own-words",
    promise: "the vendor's own sentence is kept for the operator, and the message states the status",
    async run(make) {
      const error = await agentErrorOf(make, failing(404));
      expectThat(error.message.includes("404"), `the message was ${error.message}`);
      expectThat(vendorMessageOf(error)?.includes(written) === true, `for the operator there is ${vendorMessageOf(error)}`);
    },
  },
  {
    id: "proxy-page",
    promise: "the page of a proxy with status 502 is MODEL_OVERLOADED, retryable",
    async run(make) {
      const body = "<html><body><h1>502 Bad Gateway</h1></body></html>";
      const error = await agentErrorOf(make, { type: "raw", status: 502, contentType: "text/html", body });
      expectSame([error.code, error.retryable], ["MODEL_OVERLOADED", true], "code and retryable");
    },
  },
  {
    id: "no-retry",
    promise: "a failed call is not made again by the provider",
    async run(make) {
      await withSubject(make, failing(500), async (subject) => {
        await rejectionOf(collectAnswer(subject.provider, sampleRequest(subject)));
        expectSame(subject.requests.length, 1, "requests");
      });
    },
  },
];

/** Plays a failure and looks for a secret in everything that the error holds. */
async function expectSilence(make: MakeModelProvider, script: (key: string) => WireScript, secret: "key" | "prompt"): Promise<void> {
  // The key is the subject's own, and the script may repeat it: ask first.
  const key = await withSubject(make, failing(500), async (subject) => subject.key);
  const error = await agentErrorOf(make, script(key));
  const found = pathOf(error, secret === "key" ? key : promptCanary);
  expectThat(found === undefined, `the ${secret} is in ${found}`);
}

/** A key as it may come back: as it is, as in an address, and in base64, alone and as a part of more. */
const spellings: readonly ((key: string) => string)[] = [
  (key) => key,
  (key) => encodeURIComponent(`${key}/`),
  (key) => btoa(key),
  (key) => btoa(`user:${key}`),
  (key) => btoa(`basic user:${key}:more`),
];

/** Lets the vendor repeat the key in each spelling, and looks for it in the error and in what the operator reads. */
async function expectKeyRemoved(make: MakeModelProvider): Promise<void> {
  const key = await withSubject(make, failing(500), async (subject) => subject.key);
  for (const spell of spellings) {
    const spelt = spell(key);
    const message = `Incorrect API key provided: ${spelt} Ask for another one.`;
    // The middle of it, which is the same whatever stands around it.
    const core = spelt.slice(8, -8);
    for (const script of [failing(401, { message }), { ...playing(plainAnswer, "text", "error"), errorText: message }]) {
      const error = await agentErrorOf(make, script);
      const found = pathOf(error, core) ?? (vendorMessageOf(error)?.includes(core) ? "what the operator reads" : undefined);
      expectThat(found === undefined, `the key, as ${spelt}, is in ${found}`);
    }
  }
}

/** Where a text is found in an error, its causes and all that hangs on them, hidden members included. */
function pathOf(error: unknown, text: string): string | undefined {
  const seen = new Set<unknown>();
  const waiting: (readonly [string, unknown])[] = [["error", error]];
  for (let next = waiting.shift(); next !== undefined && seen.size < 20_000; next = waiting.shift()) {
    const [path, value] = next;
    if (typeof value === "string" && value.includes(text)) return path;
    if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) continue;
    seen.add(value);
    // A Headers shows its content through its methods only.
    if (isPairs(value)) waiting.push(...[...value].map(([name, each]): readonly [string, unknown] => [`${path}[${name}]`, each]));
    for (const name of Reflect.ownKeys(value)) {
      const descriptor = Reflect.getOwnPropertyDescriptor(value, name);
      if (descriptor && "value" in descriptor) waiting.push([`${path}.${String(name)}`, descriptor.value]);
    }
  }
  return undefined;
}

function isPairs(value: object): value is Iterable<readonly [string, unknown]> {
  return value instanceof Map || (typeof Headers !== "undefined" && value instanceof Headers);
}

const secretCases: readonly ModelProviderCase[] = [
  {
    id: "key-repeated",
    promise: "a key that the vendor repeats in its error is in no part of ours",
    run: expectKeyRemoved,
  },
  {
    id: "prompt-repeated",
    promise: "a prompt that the vendor repeats, in an answer with an error status or inside a stream, is in no part of the error",
    async run(make) {
      const message = `I do not like "${promptCanary}" at all.`;
      for (const status of [422, 429, 500]) await expectSilence(make, () => failing(status, { message }), "prompt");
      await expectSilence(make, () => ({ ...playing(plainAnswer, "text", "error"), errorText: message }), "prompt");
      await expectSilence(make, () => ({ type: "raw", status: 422, contentType: "text/plain", body: message }), "prompt");
    },
  },
  {
    id: "key-in-causes",
    promise: "the key is in no error of a failing vendor, nor in what caused it",
    run: (make) => expectSilence(make, () => failing(500), "key"),
  },
  {
    id: "key-in-broken-connection",
    promise: "the key is in no error of a broken connection, nor in what caused it",
    run: (make) => expectSilence(make, () => ({ type: "drop" }), "key"),
  },
  {
    id: "prompt-in-errors",
    promise: "the prompt is in no error, nor in what caused it",
    run: (make) => expectSilence(make, () => failing(400), "prompt"),
  },
];

/** What a provider makes of a vendor that answers with an error. */
export const errorCases: readonly ModelProviderCase[] = [...statusCases, ...wordCases, ...secretCases];
