import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fold } from "../loop/fold.ts";
import { emptyState } from "../loop/state.ts";
import type { AssistantPart } from "../message/content.ts";
import type { AssistantMessage, Message } from "../message/message.ts";
import { messageFlaw } from "../message/message-flaws.ts";
import { createRequestBuilder } from "./request-builder.ts";
import { createValidHistory, withAnswerableEnd } from "./valid-history.ts";

const opaque = { vendor: "gemini", data: { thoughtSignature: "s" } } as const;
const blank: AssistantPart = { type: "text", text: " " };
const signed: AssistantPart = { ...blank, opaque };
const words: AssistantPart = { type: "text", text: "Well." };
const thinking: AssistantPart = { type: "thinking", text: "hm", opaque };

/** What is kept of an answer with this content; `undefined` when it is left out. */
function kept(
  content: readonly AssistantPart[],
  stopReason: AssistantMessage["stopReason"] = "stop",
): readonly AssistantPart[] | undefined {
  const history = createValidHistory();
  const written: readonly Message[] = [
    { role: "user", content: "Hello." },
    { role: "assistant", content, stopReason },
  ];
  history.take(written);
  const answer = history.messages[1];
  return answer?.role === "assistant" ? answer.content : undefined;
}

describe("a valid history", () => {
  it("keeps a blank text that carries opaque data, which its vendor wants back", () => {
    expect(kept([signed])).toEqual([signed]);
    expect(kept([words, signed, blank])).toEqual([words, signed]);
  });

  it("drops a blank text without opaque data", () => {
    expect(kept([blank, words])).toEqual([words]);
    expect(kept([blank])).toBeUndefined();
  });

  it("drops everything but words from an answer that was cut off", () => {
    expect(kept([thinking, words, signed], "aborted")).toEqual([words]);
    expect(kept([thinking, signed], "error")).toBeUndefined();
  });

  it("leaves out an answer that is thinking alone", () => {
    expect(kept([thinking])).toBeUndefined();
  });
});

describe("the history of a request", () => {
  const written: readonly Message[] = [
    { role: "user", content: "Hello." },
    { role: "assistant", content: [words], stopReason: "stop" },
  ];

  it("is not copied for a turn, however long it is", () => {
    const history = createValidHistory();
    history.take([...written, { role: "user", content: "And?" }]);
    expect(withAnswerableEnd(history.messages)).toBe(history.messages);
  });

  it("that a model could not answer ends with a notice, of which the next one knows nothing", () => {
    const history = createValidHistory();
    history.take(written);
    expect(withAnswerableEnd(history.messages).map(({ role }) => role)).toEqual(["user", "assistant", "notice"]);
    expect(history.messages).toHaveLength(2);
  });
});

describe("the history of any log", () => {
  const words = fc.constantFrom(
    "user",
    "assistant",
    "tool_result",
    "notice",
    "system",
    "text",
    "thinking",
    "tool_call",
    "json",
    "opaque",
    "image",
    "",
  );
  const junk = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, fc.constant(null), fc.integer(), words, fc.array(tie("value"), { maxLength: 3 }), tie("object")),
    object: fc.record(
      {
        role: words,
        type: words,
        content: fc.oneof(words, fc.array(tie("value"), { maxLength: 3 })),
        text: fc.oneof(words, fc.constant(null)),
        stopReason: fc.constantFrom("stop", "aborted", null),
        toolCallId: fc.constantFrom("c1", "", 7),
        callKey: fc.constantFrom("c1", null),
        id: fc.constantFrom("c1", 7),
        name: words,
        args: fc.constantFrom({}, null),
        value: tie("value"),
        mediaType: words,
        source: tie("value"),
        opaque: tie("value"),
      },
      { requiredKeys: [] },
    ),
  })).value;

  it("is made of messages, whatever the log holds in their place", () => {
    fc.assert(
      fc.property(fc.array(junk, { maxLength: 6 }), (context) => {
        const fact = { type: "session.opened", agent: "a", context: context as never, seq: 1, at: 0, v: 1 } as const;
        const state = fold(emptyState, fact);
        const direct = createValidHistory();
        direct.take(context as never);
        for (const messages of [createRequestBuilder().build(state).messages ?? [], direct.messages]) {
          expect(messages.map(messageFlaw)).toEqual(messages.map(() => undefined));
        }
      }),
      { numRuns: 500 },
    );
  });
});
