import { isAgentError } from "@loopwright/core";
import type { SessionRef, SessionSummary } from "@loopwright/core/ports";
import { projectSession, type SessionProjection, searchTextsOf } from "@loopwright/core/stores";
import type { Connection, Outcome } from "../connection/connection.ts";
import { listOf, numberOf, textOf } from "../connection/reply.ts";
import { run } from "../connection/script.ts";
import type { StoreKeys } from "../keys.ts";
import type { FactReader } from "../log/fact-reader.ts";
import { saveViewScript } from "./index-scripts.ts";

/** Facts that are folded at once. */
const foldMax = 2_000;

/** Summaries of logs, kept beside them and folded further on request: an append costs nothing. */
export class SessionViews {
  readonly #connection: Connection;
  readonly #keys: StoreKeys;
  readonly #reader: FactReader;

  constructor(parts: { readonly connection: Connection; readonly keys: StoreKeys; readonly reader: FactReader }) {
    this.#connection = parts.connection;
    this.#keys = parts.keys;
    this.#reader = parts.reader;
  }

  /** `undefined` for a session without facts, and for a removed one. `parent`: among whose children it was found. */
  async summaryOf(ref: SessionRef, parent?: string): Promise<SessionSummary | undefined> {
    const { meta, view } = this.#keys.session(ref);
    const seq = this.#connection.ask(["HGET", meta, "seq"]);
    const kept = await this.#connection.ask(["HGET", view, "value"]);
    const tail = await seq;
    if (isOfWrongType(tail)) return this.#unreadable(ref, { parent });
    const lastSeq = numberOf(this.#connection.answerOf(tail) ?? 0);
    if (lastSeq === 0) return undefined;
    // What can be made anew is not missed.
    if (isOfWrongType(kept)) await this.forget(ref);
    const projection = isOfWrongType(kept) ? undefined : projectionOf(textOf(this.#connection.answerOf(kept)));
    return projection?.summary.lastSeq === lastSeq ? projection.summary : this.#fold(ref, { before: projection, lastSeq, parent });
  }

  /** What people and the model wrote in a session, up to the fact that its kept summary ends with. */
  async textsOf(ref: SessionRef): Promise<{ readonly texts: readonly string[]; readonly lastSeq: number }> {
    const { view, texts: list } = this.#keys.session(ref);
    const ask = async () => {
      const seq = this.#connection.ask(["HGET", view, "seq"]);
      return { texts: await this.#connection.ask(["LRANGE", list, "0", "-1"]), seq: await seq };
    };
    let asked = await ask();
    if (isOfWrongType(asked.texts)) {
      await this.forget(ref);
      await this.summaryOf(ref);
      asked = await ask();
    }
    const texts = listOf(this.#connection.answerOf(asked.texts)).map((text) => textOf(text) ?? "");
    return { texts, lastSeq: numberOf(this.#connection.answerOf(asked.seq) ?? 0) };
  }

  /** Throws the projection away; the next summary folds the log from its start. */
  async forget(ref: SessionRef): Promise<void> {
    const { view, texts } = this.#keys.session(ref);
    await this.#connection.answer(["UNLINK", view, texts]);
  }

  async #fold(ref: SessionRef, { before, lastSeq, parent }: Folding): Promise<SessionSummary | undefined> {
    let projection = before;
    try {
      while ((projection?.summary.lastSeq ?? 0) < lastSeq) {
        const from = (projection?.summary.lastSeq ?? 0) + 1;
        const facts = await this.#reader.read(ref, { from, limit: foldMax });
        const folded = projectSession(ref.session, projection, facts);
        if (!folded || facts.length === 0) return undefined;
        projection = folded;
        await this.#save(ref, { before: from - 1, projection: folded, texts: facts.flatMap(searchTextsOf) });
      }
    } catch (error) {
      // A damaged log is reported to its readers; the list continues with what is known.
      if (!isAgentError(error, "SESSION_CORRUPT") && !isAgentError(error, "HISTORY_LOST")) throw error;
      return { ...(await this.#unreadable(ref, { summary: projection?.summary, parent })), lastSeq };
    }
    return projection?.summary;
  }

  /** What is known of a session whose log cannot be read; in its place in the list. */
  async #unreadable({ scope, session }: SessionRef, { summary, parent }: Known): Promise<SessionSummary> {
    const family = parent === undefined ? this.#keys.index(scope) : this.#keys.children(scope, parent);
    const updatedAt = numberOf((await this.#connection.answer(["ZSCORE", family, session])) ?? 0);
    return { ...(summary ?? unknownSummary(session)), ...(parent === undefined ? {} : { parent }), updatedAt };
  }

  /** A projection that cannot be kept now is made again next time. */
  async #save(
    ref: SessionRef,
    { before, projection, texts }: { readonly before: number; readonly projection: SessionProjection; readonly texts: readonly string[] },
  ): Promise<void> {
    const { meta, view, texts: list } = this.#keys.session(ref);
    const args = [String(before), String(projection.summary.lastSeq), JSON.stringify(projection), ...texts];
    await run(this.#connection, saveViewScript, { keys: [meta, view, list], args });
  }
}

interface Folding {
  readonly before: SessionProjection | undefined;
  readonly lastSeq: number;
  readonly parent: string | undefined;
}

interface Known {
  readonly summary?: SessionSummary | undefined;
  readonly parent: string | undefined;
}

function isOfWrongType(outcome: Outcome): boolean {
  return outcome.type === "refused" && outcome.refusal.word === "WRONGTYPE";
}

function projectionOf(text: string | undefined): SessionProjection | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unknownSummary(id: string): SessionSummary {
  return { id, agent: "", status: "idle", createdAt: 0, updatedAt: 0, lastSeq: 0, messageCount: 0 };
}
