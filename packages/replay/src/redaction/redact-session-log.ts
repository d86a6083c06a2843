/*
 * Owns: a recorded session without secrets and personal data, which still takes the same course: the same text has the same placeholder everywhere.
 * Does not own: what is a secret (`find`), where a fact has words (words-of-fact).
 */
import type { Fact } from "@loopwright/core";
import type { SessionLogFile } from "../session-log-file.ts";
import { type FoundText, FoundTexts } from "./found-texts.ts";
import { redactedDigest, type WordChange, withWords } from "./words-of-fact.ts";

export interface RedactSessionLogOptions {
  /** The parts of a text that are to be replaced, for example `sensitiveTexts()` of `@loopwright/guardrails`. Asked once for each text. */
  readonly find: (text: string) => readonly FoundText[] | Promise<readonly FoundText[]>;
}

/** A text that was replaced. The text itself is not here. */
export interface ReplacedText {
  /** What stands in its place: `[redacted:<rule>-<number>]`. */
  readonly placeholder: string;
  readonly rule: string;
  /** How often it stood in the log. */
  readonly places: number;
  /** The number of the first fact that had it. */
  readonly firstSeq: number;
}

export interface RedactedSessionLog {
  readonly log: SessionLogFile;
  /** In the order of the log. */
  readonly replaced: readonly ReplacedText[];
}

/** The rule under whose name the bytes of images and files are replaced: no rule can look into them. */
const mediaRule = "media";

/**
 * The session with a placeholder in place of each text that `find` names: in messages, arguments, results, prompts, labels, errors, schemas, and wherever else a fact has words. A text
 * that is found anywhere is replaced everywhere, also where `find` would not see it, so that references still match. Bytes of images and files, their keys, and digests of
 * replaced words are replaced too. Rejects as `find` does.
 */
export async function redactSessionLog({ session, facts }: SessionLogFile, { find }: RedactSessionLogOptions): Promise<RedactedSessionLog> {
  const texts = new FoundTexts();
  for (const text of textsOf(session, facts)) texts.add(text, await find(text));
  const replaced = new Map<string, ReplacedText>();
  const redacted = facts.map((fact) =>
    withWords(
      fact,
      replacing(texts, (placeholder) => count(replaced, placeholder, fact.seq)),
    ),
  );
  const id = replacing(texts, (placeholder) => count(replaced, placeholder, 1)).id(session);
  const isOther = redacted.some((fact, at) => JSON.stringify(declared(fact)) !== JSON.stringify(declared(facts[at])));
  return {
    log: { session: id, facts: isOther ? redacted.map(withoutAgentDigest) : redacted, isRedacted: true },
    replaced: [...replaced.values()],
  };
}

const declared = (fact: Fact | undefined): unknown => (fact?.type === "session.opened" ? fact.tools : undefined);

/** The digest of the agent has the tools that the session declares too: where they are replaced, it would confirm a guess. */
const withoutAgentDigest = (fact: Fact): Fact => (fact.type === "run.started" ? { ...fact, agentDigest: redactedDigest } : fact);

/** Every text of the session once. */
function textsOf(session: string, facts: readonly Fact[]): ReadonlySet<string> {
  const texts = new Set([session]);
  const collect = <Word extends string | number>(word: Word): Word => {
    texts.add(String(word));
    return word;
  };
  for (const fact of facts) withWords(fact, { text: collect, number: collect, id: collect, media: (data) => data, blob: (key) => key });
  return texts;
}

function replacing(texts: FoundTexts, onReplaced: (placeholder: string) => void): WordChange {
  const media = (text: string): string => {
    const placeholder = texts.placeholderOf(mediaRule, text);
    onReplaced(placeholder);
    return placeholder;
  };
  return {
    text: (text) => texts.replaced(text, onReplaced),
    // It stays a number, since a schema may ask for one.
    number: (value) => texts.numberOf(String(value)) ?? value,
    // It stays an id.
    id: (id) => asId(texts.replaced(id, onReplaced)),
    media: (data) => btoa(media(data)),
    blob: (key) => asId(media(key)),
  };
}

const asId = (text: string): string => text.replaceAll(/[[\]]/g, "").replaceAll(":", "-").toLowerCase().slice(0, idMax);

const idMax = 64;

function count(replaced: Map<string, ReplacedText>, placeholder: string, seq: number): void {
  const { places, firstSeq } = replaced.get(placeholder) ?? { places: 0, firstSeq: seq };
  const rule = placeholder.slice("[redacted:".length, placeholder.lastIndexOf("-"));
  replaced.set(placeholder, { placeholder, rule, places: places + 1, firstSeq });
}
