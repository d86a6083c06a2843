import type { AssistantPart, Message, ToolCallPart, ToolResultMessage } from "@loopwright/core";
import { expectSame, expectThat } from "../kit/kit.ts";
import { collectAnswer } from "./collect-answer.ts";
import { type ModelProviderCase, plainAnswer, playing, promptCanary, sampleRequest, sampleTool, withSubject } from "./provider-samples.ts";
import type { MakeModelProvider } from "./wire.ts";

/** The body of the one request that these messages make. */
function bodyOf(make: MakeModelProvider, messages: readonly Message[], withTools = false): Promise<unknown> {
  return withSubject(make, playing(plainAnswer), async (subject) => {
    await collectAnswer(subject.provider, sampleRequest(subject, { messages, ...(withTools ? { tools: [sampleTool] } : {}) }));
    return subject.requests[0]?.body;
  });
}

const call = (at: number, name: string): ToolCallPart => ({
  type: "tool_call",
  callKey: `run.1.${at}`,
  id: `call_${at}`,
  name,
  args: { at },
});

type Naming = (call: ToolCallPart) => Pick<ToolResultMessage, "toolCallId" | "callKey" | "toolName">;

/** The ways in which a result may name its call. */
const namings: readonly (readonly [string, Naming])[] = [
  ["its id and its key", ({ id, callKey, name }) => ({ toolCallId: id, callKey, toolName: name })],
  ["its id alone", ({ id }) => ({ toolCallId: id })],
  ["its key in place of its id", ({ callKey, name }) => ({ toolCallId: callKey, toolName: name })],
  ["its key alone", ({ callKey }) => ({ toolCallId: callKey, callKey })],
];

function called(naming: Naming): readonly Message[] {
  const calls = [call(0, "weather_of"), call(1, "time_of")];
  return [
    { role: "user", content: "What is it like?" },
    { role: "assistant", content: calls, stopReason: "tool_calls" },
    ...calls.map((each): Message => ({ role: "tool_result", ...naming(each), content: `The answer of ${each.name}.` })),
  ];
}

const foreign = { vendor: "elsewhere", data: "ZWxzZXdoZXJl" };
/** Answers of which nothing may be sent to this vendor, or only a part. */
const strangeAnswers: readonly (readonly AssistantPart[])[] = [
  [],
  [{ type: "thinking", text: "Deep in foreign thought.", opaque: foreign }],
  [{ type: "opaque", ...foreign }],
  [{ type: "text", text: "", opaque: foreign }],
  [
    { type: "text", text: "", opaque: foreign },
    { type: "text", text: "It is FINE-CANARY." },
  ],
];
const blankInputs: readonly Extract<Message, { role: "user" }>["content"][] = ["", " \n", [], [{ type: "text", text: "" }]];

/** Where in a body there is a blank text or an empty list. */
function blanksIn(value: unknown, path: string): readonly string[] {
  if (typeof value === "string") return value.trim() === "" ? [path] : [];
  if (typeof value !== "object" || value === null) return [];
  const members = Object.entries(value);
  if (Array.isArray(value) && members.length === 0) return [path];
  return members.flatMap(([name, member]) => blanksIn(member, `${path}.${name}`));
}

/** What a provider makes of the messages that went before. */
export const historyCases: readonly ModelProviderCase[] = [
  {
    id: "results-named",
    promise: "a result finds its call by the call's id or by its key, with or without the tool's name: the request is the same",
    async run(make) {
      const bodies = await Promise.all(namings.map(([, naming]) => bodyOf(make, called(naming), true)));
      for (const [at, [how]] of namings.entries()) expectSame(bodies[at], bodies[0], `the request when a result names ${how}`);
    },
  },
  {
    id: "blank-messages",
    promise: "what is blank, or blank once another vendor's parts are dropped, leaves no empty text and no empty list on the wire",
    async run(make) {
      // An empty list of tools, for example, is for another case.
      const usual = new Set(blanksIn(await bodyOf(make, [{ role: "user", content: "Hello." }]), "body"));
      const ending: Message = { role: "user", content: `And now? ${promptCanary}` };
      const histories: readonly (readonly Message[])[] = [
        ...strangeAnswers.map((content): readonly Message[] => [
          { role: "user", content: "What is it like?" },
          { role: "assistant", content, stopReason: "stop" },
          ending,
        ]),
        ...blankInputs.map((content): readonly Message[] => [{ role: "user", content }]),
        ...blankInputs.map((content): readonly Message[] => [{ role: "user", content }, ending]),
      ];
      for (const messages of histories) {
        const body = await bodyOf(make, messages);
        const given = JSON.stringify(messages.slice(0, 2));
        const blanks = blanksIn(body, "body").filter((path) => !usual.has(path));
        expectSame(blanks, [], `blanks in the request for ${given}`);
        for (const canary of ["FINE-CANARY", promptCanary])
          expectThat(!JSON.stringify(messages).includes(canary) || JSON.stringify(body).includes(canary), `${canary} is lost of ${given}`);
      }
    },
  },
];
