import { refKey, type SessionRef, type SessionSummary } from "@loopwright/core/ports";
import type { SessionViews } from "./session-views.ts";

/** A session as a search looks at it. */
export interface SearchedSession {
  readonly summary: SessionSummary | undefined;
  readonly texts: readonly string[];
  readonly characterCount: number;
}

/**
 * What people and the model wrote in sessions, kept from one search to the next as far as there is room: while a log has the same end, nothing of it is
 * read again.
 */
export class SearchedTexts {
  readonly #views: SessionViews;
  readonly #charactersMax: number;
  /** The session used last comes last. */
  readonly #kept = new Map<string, { readonly end: string; readonly session: SearchedSession }>();
  #characterCount = 0;

  constructor(views: SessionViews, charactersMax: number) {
    this.#views = views;
    this.#charactersMax = charactersMax;
  }

  /** What is kept of a session whose log still has this end. */
  kept(ref: SessionRef, end: string): SearchedSession | undefined {
    const name = refKey(ref);
    const kept = this.#kept.get(name);
    if (kept?.end !== end) return undefined;
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    return kept.session;
  }

  /** Reads a session. `end`: what named the end of its log before; empty for a log that cannot be read, of which nothing is kept. */
  async read(ref: SessionRef, end: string): Promise<SearchedSession> {
    const summary = await this.#views.summaryOf(ref);
    const { texts, lastSeq } = await this.#views.textsOf(ref);
    const characterCount = texts.reduce((sum, { length }) => sum + length, summary?.title?.length ?? 0);
    const session = { summary, texts, characterCount };
    // Texts that Redis did not take, or that stand before damage, are looked for again.
    if (end !== "" && summary?.lastSeq === lastSeq) this.#keep(refKey(ref), { end, session });
    return session;
  }

  forget(ref: SessionRef): void {
    this.#drop(refKey(ref));
  }

  #keep(name: string, kept: { readonly end: string; readonly session: SearchedSession }): void {
    this.#drop(name);
    this.#kept.set(name, kept);
    this.#characterCount += roomOf(kept.session);
    for (const oldest of this.#kept.keys()) {
      if (this.#characterCount <= this.#charactersMax) return;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    const kept = this.#kept.get(name);
    if (!kept) return;
    this.#characterCount -= roomOf(kept.session);
    this.#kept.delete(name);
  }
}

/** What a summary takes beside its texts, about. */
const summaryRoom = 1_000;

const roomOf = ({ characterCount }: SearchedSession): number => characterCount + summaryRoom;
