import type { Fact, FactDraft } from "@loopwright/core";
import { searchTextsOf } from "@loopwright/core/stores";
import { hashedText } from "./hashed-words.ts";

/** What makes the content of a fact unreadable for the store. */
export interface Sealer {
  /** A text that only the session's key opens, in one word. */
  text(clear: string): string;
  /** The scope's key for words. */
  readonly wordKey: Uint8Array;
}

/**
 * The fields of a fact that the store sees: its type, its time and what lists need (ids, counts, states, sums). Texts are sealed, and the words that a search
 * looks through are keyed hashes. Facts of types that are not known here show nothing but their type.
 */
export function clearFields(fact: FactDraft, seq: number, sealer: Sealer): FactDraft {
  const { type, at, v, epoch } = fact;
  const base = { type, at, v, ...(epoch === undefined ? {} : { epoch }) };
  const clear = { ...base, ...idsOf(fact), ...namesOf(fact, sealer), ...messageOf(fact, seq, sealer), ...outcomeOf(fact, sealer) };
  return clear as FactDraft;
}

/** Ids, states and sums: none of them holds a text of a user, a model or a tool. */
const idFields: readonly string[] = [
  ...["agent", "runId", "inputId", "mode", "turn", "attempt", "callKey", "callKeys", "rests", "session", "usage", "cost", "child"],
  ...["erase", "status"],
];

function idsOf(fact: FactDraft): object {
  const ids = Object.entries(fact).filter(([name]) => idFields.includes(name));
  const parent = fact.type === "session.opened" && fact.parent ? { parent: { session: fact.parent.session } } : {};
  const decision = fact.type === "approval.decided" ? { decision: fact.decision } : {};
  // That there is a key decides whether a call waits for its child; the key itself is a text of the application.
  const key = fact.type === "child.linked" && fact.key !== undefined ? { key: "sealed" } : {};
  return { ...Object.fromEntries(ids), ...parent, ...decision, ...key };
}

/** The one member of the metadata that the store sees. Every encrypted session has it. */
export const sealedField = "sealed";

/** What lists show of a session: the beginning of a long title, the first participants, and metadata up to a size. The log has all of it. */
const titleMax = 1_000;
const participantsMax = 100;
const metadataMax = 16 * 1024;

function shownMetadata(metadata: object | undefined): string {
  const text = JSON.stringify(metadata ?? null);
  return text.length > metadataMax ? "null" : text;
}

/** Title, participants and metadata, which lists show. */
function namesOf(fact: FactDraft, { text, wordKey }: Sealer): object {
  if (fact.type !== "session.opened" && fact.type !== "session.changed") return {};
  const { title, metadata } = fact;
  const participants = fact.type === "session.opened" ? fact.participants : undefined;
  return {
    ...(typeof title === "string"
      ? { title: `${hashedText(wordKey, title.slice(0, titleMax), 0)} ${text(title.slice(0, titleMax))}` }
      : {}),
    ...(participants ? { participants: participants.slice(0, participantsMax).map((name) => text(name.slice(0, titleMax))) } : {}),
    ...(metadata || fact.type === "session.opened" ? { metadata: { [sealedField]: text(shownMetadata(metadata)) } } : {}),
  };
}

/** The messages, as hashes of their words. */
function messageOf(draft: FactDraft, seq: number, { wordKey }: Sealer): object {
  const fact: Fact = { ...draft, seq };
  const words = (): string => hashedText(wordKey, searchTextsOf(fact).join("\n"), seq);
  switch (fact.type) {
    case "session.opened":
      return fact.context ? { context: contextOf(fact.context, words) } : {};
    case "input.accepted":
      return fact.message ? { message: { role: "user", content: words() } } : {};
    case "model.finished":
      return { message: { role: "assistant", content: [{ type: "text", text: words() }], stopReason: fact.stopReason }, calls: [] };
    default:
      return {};
  }
}

/** As many messages of each role as there are, so that they are counted; the words stand in the first of them that a search reads. */
function contextOf(
  context: NonNullable<Extract<Fact, { readonly type: "session.opened" }>["context"]>,
  words: () => string,
): readonly object[] {
  const first = context.findIndex((message) => message.role === "user" || message.role === "assistant");
  return context.map((message, place) => {
    const text = place === first ? words() : "";
    return message.role === "assistant"
      ? { role: "assistant", content: text === "" ? [] : [{ type: "text", text }], stopReason: "stop" }
      : { role: message.role === "notice" ? "notice" : message.role, ...(message.role === "notice" ? { text: "" } : { content: text }) };
  });
}

const isCode = /^[A-Za-z_]{1,40}$/;

/** Why a run ended: a code is shown, other words are sealed. */
function outcomeOf(fact: FactDraft, { text }: Sealer): object {
  if (fact.type !== "run.finished") return {};
  return { reason: isCode.test(fact.reason) ? fact.reason : text(fact.reason) };
}
