import { refKey, type SessionRef } from "@loopwright/core/ports";
import { searchTextsOf } from "@loopwright/core/stores";
import type { OpenLog } from "../log/open-log.ts";
import { readFacts } from "../log/read-facts.ts";
import { storeLimits } from "../store-limits.ts";

interface KnownTexts {
  lastSeq: number;
  readonly texts: string[];
  characterCount: number;
}

/** What people and models wrote in sessions, kept for the next search as far as there is room. */
export class SessionTexts {
  readonly #charactersMax: number;
  readonly #known = new Map<string, KnownTexts>();
  #characterCount = 0;

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  /** The texts of a session up to a fact, if they are kept: without a look at its log. */
  kept(ref: SessionRef, lastSeq: number): readonly string[] | undefined {
    const name = refKey(ref);
    const known = this.#known.get(name);
    if (!known || known.lastSeq < lastSeq) return undefined;
    this.#known.delete(name);
    this.#known.set(name, known);
    return known.texts;
  }

  /** The texts of a log up to a fact. @throws AgentError SESSION_CORRUPT, STORE_* */
  async of(log: OpenLog, lastSeq: number): Promise<readonly string[]> {
    const name = refKey(log.ref);
    const known = this.#known.get(name) ?? { lastSeq: 0, texts: [], characterCount: 0 };
    while (known.lastSeq < lastSeq) {
      const from = known.lastSeq + 1;
      const facts = await readFacts(log, { from, limit: storeLimits.factsPerRead, lastSeq });
      // Another search has been here meanwhile.
      if (known.lastSeq >= from) continue;
      known.lastSeq += facts.length;
      for (const text of facts.flatMap(searchTextsOf)) {
        known.texts.push(text);
        known.characterCount += text.length;
        if (this.#known.has(name)) this.#characterCount += text.length;
      }
    }
    this.#keep(name, known);
    return known.texts;
  }

  forget({ ref }: OpenLog): void {
    const name = refKey(ref);
    this.#characterCount -= this.#known.get(name)?.characterCount ?? 0;
    this.#known.delete(name);
  }

  #keep(name: string, known: KnownTexts): void {
    if (!this.#known.delete(name)) this.#characterCount += known.characterCount;
    this.#known.set(name, known);
    for (const [oldest, { characterCount }] of this.#known) {
      if (this.#characterCount <= this.#charactersMax) return;
      this.#known.delete(oldest);
      this.#characterCount -= characterCount;
    }
  }
}
