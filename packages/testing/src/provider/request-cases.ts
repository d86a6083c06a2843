import { type AssistantMessage, type AssistantPart, isAgentError, type Message, type ModelRequest } from "@loopwright/core";
import type { SystemPart } from "@loopwright/core/ports";
import { expectSame, expectThat } from "../kit/kit.ts";
import { collectAnswer } from "./collect-answer.ts";
import {
  callAnswer,
  type ModelProviderCase,
  plainAnswer,
  playing,
  rejectionOf,
  sampleRequest,
  sampleTool,
  withSubject,
} from "./provider-samples.ts";
import type { MakeModelProvider, ModelProviderSubject } from "./wire.ts";

const signature = "U0lHTkFUVVJFLUNBTkFSWQ==";
/** The smallest PNG: one transparent pixel. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** What goes over the wire for a request, as text: the path and the body of the one request made. */
function wireOf(
  make: MakeModelProvider,
  more: (subject: ModelProviderSubject) => Partial<ModelRequest>,
): Promise<{ readonly text: string; readonly body: unknown }> {
  return withSubject(make, playing(plainAnswer), async (subject) => {
    await collectAnswer(subject.provider, sampleRequest(subject, more(subject)));
    const request = subject.requests[0];
    expectThat(request !== undefined && subject.requests.length === 1, `${subject.requests.length} requests were made`);
    return { text: `${request.path} ${JSON.stringify(request.body)}`, body: request.body };
  });
}

async function expectOnWire(make: MakeModelProvider, more: Partial<ModelRequest>, texts: readonly string[]): Promise<void> {
  const { text } = await wireOf(make, () => more);
  for (const each of texts) expectThat(text.includes(JSON.stringify(each).slice(1, -1)), `${each} is not in the request`);
}

/** Names of members, at every depth. */
function namesIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(namesIn);
  return Object.entries(value).flatMap(([name, member]) => [name, ...namesIn(member)]);
}

const quietCases: readonly ModelProviderCase[] = [
  {
    id: "lazy",
    promise: "nothing is sent before a reader iterates the stream",
    async run(make) {
      await withSubject(make, playing(plainAnswer), async (subject) => {
        subject.provider.capabilities(subject.model);
        subject.provider.stream(sampleRequest(subject), { signal: new AbortController().signal, attempt: 1 });
        // A second call, all the way, gives the first one every chance to be sent.
        await collectAnswer(subject.provider, sampleRequest(subject));
        expectSame(subject.requests.length, 1, "requests");
      });
    },
  },
  {
    id: "capabilities",
    promise: "the capabilities of a model that is unknown are answered, not refused",
    async run(make) {
      await withSubject(make, playing(plainAnswer), async ({ provider }) => {
        const { streaming, tools, vision, promptCaching } = provider.capabilities("model-that-nobody-knows");
        expectSame(
          [streaming, tools, vision, promptCaching].map((each) => typeof each),
          Array(4).fill("boolean"),
          "types",
        );
      });
    },
  },
  {
    id: "no-tools",
    promise: "without tools nothing about tools is sent",
    async run(make) {
      for (const tools of [undefined, []]) {
        const { body } = await wireOf(make, () => (tools ? { tools } : {}));
        const names = Object.keys(body as object).filter((name) => /tool|function/i.test(name));
        expectSame(names, [], "members of the body");
      }
    },
  },
  {
    id: "no-temperature",
    promise: "a temperature that was not given is not sent",
    async run(make) {
      const { body } = await wireOf(make, () => ({}));
      expectThat(!namesIn(body).includes("temperature"), "there is a temperature in the body");
    },
  },
];

const contentCases: readonly ModelProviderCase[] = [
  {
    id: "model",
    promise: "the model that was asked for is the one on the wire",
    async run(make) {
      const { text } = await wireOf(make, () => ({ model: "model-x-2026" }));
      expectThat(text.includes("model-x-2026"), "the model is neither in the path nor in the body");
    },
  },
  {
    id: "system",
    promise: "the system prompt reaches the wire: all its parts, once and in their order",
    async run(make) {
      const part = (text: string, cache: SystemPart["cache"]): SystemPart => ({ text, source: "agent", cache });
      const system = [part("FIRST-CANARY", "stable"), part("SECOND-CANARY", "stable"), part("THIRD-CANARY", "session")];
      const { text } = await wireOf(make, () => ({ system }));
      const found = [...text.matchAll(/(FIRST|SECOND|THIRD)-CANARY/g)].map(([name]) => name);
      expectSame(found, ["FIRST-CANARY", "SECOND-CANARY", "THIRD-CANARY"], "parts in the request");
    },
  },
  {
    id: "messages",
    promise: "the messages of both sides reach the wire",
    run: (make) => expectOnWire(make, { messages: conversation("plain") }, ["What is it like?", "It is fine.", "And now?"]),
  },
  {
    id: "tools",
    promise: "the name, the description and the parameters of a tool reach the wire",
    run: (make) => expectOnWire(make, { tools: [sampleTool] }, ["weather_of", "Tells the weather of a place.", "placeName"]),
  },
  {
    id: "results",
    promise: "calls and their results go back to the model",
    run: (make) =>
      expectOnWire(make, { messages: conversation("called"), tools: [sampleTool] }, ["weather_of", "Berlin", "12 degrees, RESULT-CANARY"]),
  },
  {
    id: "vendor-options",
    promise: "vendor options are members of the body, as they are",
    async run(make) {
      const { body } = await wireOf(make, () => ({ vendorOptions: { x_kit_option: { deep: [1, "two"] } } }));
      expectSame((body as { readonly x_kit_option?: unknown }).x_kit_option, { deep: [1, "two"] }, "x_kit_option");
    },
  },
  {
    id: "image",
    promise: "an image reaches the wire",
    needs: ["vision"],
    run: (make) => expectOnWire(make, { messages: withImage }, [pixel]),
  },
  {
    id: "image-refused",
    promise: "an image for a model without vision is MODEL_UNSUPPORTED, before anything is sent",
    needs: ["text-only"],
    async run(make) {
      await withSubject(make, playing(plainAnswer), async (subject) => {
        const model = subject.modelWithoutVision;
        expectThat(model !== undefined, "the subject names no `modelWithoutVision`; without one it lacks `text-only`");
        const error = await rejectionOf(collectAnswer(subject.provider, sampleRequest(subject, { model, messages: withImage })));
        expectThat(isAgentError(error, "MODEL_UNSUPPORTED"), `the call rejected with ${String(error)}`);
        expectSame(subject.requests.length, 0, "requests");
      });
    },
  },
];

const withImage: readonly Message[] = [
  {
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "image", mediaType: "image/png", source: { data: pixel } },
    ],
  },
];

function conversation(kind: "plain" | "called"): readonly Message[] {
  if (kind === "plain") {
    return [
      { role: "user", content: "What is it like?" },
      { role: "assistant", content: [{ type: "text", text: "It is fine." }], stopReason: "stop" },
      { role: "user", content: "And now?" },
    ];
  }
  const call = { type: "tool_call", callKey: "run.1.0", id: "call_one", name: "weather_of", args: { placeName: "Berlin" } } as const;
  return [
    { role: "user", content: "What is it like?" },
    { role: "assistant", content: [call], stopReason: "tool_calls" },
    { role: "tool_result", toolCallId: call.id, callKey: call.callKey, toolName: call.name, content: "12 degrees, RESULT-CANARY" },
  ];
}

/** Lets the model think and call, and sends the whole back; `change` may alter what the vendor marked as its own. */
function sentBack(make: MakeModelProvider, change: (part: AssistantPart) => AssistantPart): Promise<string> {
  const answer = { ...callAnswer, thinking: { pieces: ["Deep in THOUGHT-CANARY."], signature } };
  return withSubject(make, playing(answer), async (subject) => {
    const first = await collectAnswer(subject.provider, sampleRequest(subject, { tools: [sampleTool] }));
    const parts = first.answer.parts.map(change);
    const call = parts.find((part) => part.type === "tool_call");
    expectThat(call !== undefined, "the first answer has no call");
    const written: AssistantMessage = {
      role: "assistant",
      content: parts,
      stopReason: "tool_calls",
      provider: subject.provider.name,
      model: subject.model,
    };
    const result: Message = { role: "tool_result", toolCallId: call.id, callKey: call.callKey, toolName: call.name, content: "12 degrees" };
    const messages = [...sampleRequest(subject).messages, written, result];
    await collectAnswer(subject.provider, sampleRequest(subject, { messages, tools: [sampleTool] }));
    return JSON.stringify(subject.requests[1]?.body);
  });
}

const opaqueCases: readonly ModelProviderCase[] = [
  {
    id: "opaque-back",
    promise: "what only the vendor understands goes back to it as it came",
    needs: ["opaque"],
    async run(make) {
      expectThat((await sentBack(make, (part) => part)).includes(signature), "the signature of the thinking is not in the next request");
    },
  },
  {
    id: "opaque-foreign",
    promise: "thinking that another vendor has signed is dropped as a whole",
    needs: ["opaque"],
    async run(make) {
      const body = await sentBack(make, (part) => {
        if (part.type === "opaque") return { ...part, vendor: "elsewhere" };
        return "opaque" in part && part.opaque ? { ...part, opaque: { ...part.opaque, vendor: "elsewhere" } } : part;
      });
      expectThat(!body.includes(signature), "the foreign signature is in the request");
      expectThat(!body.includes("THOUGHT-CANARY"), "the foreign thinking is in the request");
      expectThat(body.includes("weather_of"), "the call beside the foreign thinking is lost");
    },
  },
];

/** What a provider sends, and when. */
export const requestCases: readonly ModelProviderCase[] = [...quietCases, ...contentCases, ...opaqueCases];
