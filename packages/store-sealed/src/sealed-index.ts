import { type Fact, textOf } from "@loopwright/core";
import type { SessionHit, SessionIndex, SessionLog, SessionSummary } from "@loopwright/core/ports";
import { derivedTitle } from "@loopwright/core/protocol";
import { excerptAround, searchTextsOf, searchWords } from "@loopwright/core/stores";
import { sealedField } from "./clear-fields.ts";
import { hashedQuery, markIn } from "./hashed-words.ts";
import { openText } from "./sealed-text.ts";
import type { SessionKeys } from "./session-keys.ts";

/** Facts in which the first message of a user is looked for, for the title of a session without one. */
const titleFacts = 8;
/** Titles that were derived and are kept in memory. */
const titlesMax = 10_000;

/** Lists and searches of a store whose texts are encrypted. `log` gives its facts decrypted. */
export function sealedIndex(index: SessionIndex, log: SessionLog, keys: SessionKeys): SessionIndex {
  const titles = new Map<string, string>();
  const derived = async (scope: string, { id }: SessionSummary): Promise<string | undefined> => {
    const known = titles.get(`${scope}/${id}`);
    if (known !== undefined) return known;
    const title = firstTitleOf(await log.read({ scope, session: id }, { limit: titleFacts }));
    if (title === undefined) return undefined;
    if (titles.size >= titlesMax) titles.clear();
    titles.set(`${scope}/${id}`, title);
    return title;
  };
  const opened = async (scope: string, summary: SessionSummary): Promise<SessionSummary> => {
    const ref = { scope, session: summary.id };
    // A session from before the store was encrypted.
    if (summary.metadata?.[sealedField] === undefined) return summary;
    const key = await keys.session(ref);
    if (!key) return withoutTexts(summary);
    const { title, participants, metadata, lastRun, ...rest } = summary;
    const text = (sealed: string): string => openText({ ref, key }, sealed) ?? sealed;
    const given = title === undefined ? undefined : openText({ ref, key }, title);
    const shown = given ?? (summary.messageCount > 0 ? await derived(scope, summary).catch(() => undefined) : undefined);
    return {
      ...rest,
      ...(shown === undefined ? {} : { title: shown }),
      ...(participants ? { participants: participants.map(text) } : {}),
      ...metadataOf(text(String(metadata?.[sealedField]))),
      ...(lastRun ? { lastRun: { ...lastRun, reason: text(lastRun.reason) } } : {}),
    };
  };
  /** Nothing of a session whose key was erased: that it is found would confirm the word. */
  const hitOf = async (scope: string, { session, excerpt }: SessionHit, sought: readonly string[]): Promise<readonly SessionHit[]> => {
    if (session.metadata?.[sealedField] !== undefined && !(await keys.session({ scope, session: session.id }))) return [];
    const summary = await opened(scope, session);
    const seq = markIn(excerpt);
    if (seq === undefined) return [{ session: summary, excerpt: "" }];
    const [fact] = seq === 0 ? [] : await log.read({ scope, session: session.id }, { from: seq, limit: 1 });
    const text = fact ? searchTextsOf(fact).join("\n") : (summary.title ?? "");
    return [{ session: summary, excerpt: excerptAround(text, sought) }];
  };
  return {
    list: async (scope, options) => Promise.all((await index.list(scope, options)).map((summary) => opened(scope, summary))),
    async get(scope, id) {
      const summary = await index.get(scope, id);
      return summary && opened(scope, summary);
    },
    async search(scope, query, options) {
      const sought = searchWords(query);
      if (sought.length === 0) return [];
      const hits = await index.search(scope, hashedQuery(await keys.scope(scope), query), options);
      return (await Promise.all(hits.map((hit) => hitOf(scope, hit, sought)))).flat();
    },
    rebuild: (scope) => index.rebuild(scope),
  };
}

/** The beginning of the first message of a user, where no title was given. */
function firstTitleOf(facts: readonly Fact[]): string | undefined {
  for (const fact of facts) {
    const messages =
      fact.type === "session.opened" ? (fact.context ?? []) : fact.type === "input.accepted" && fact.message ? [fact.message] : [];
    for (const message of messages) {
      const title = message.role === "user" ? derivedTitle(textOf(message)) : "";
      if (title !== "") return title;
    }
  }
  return undefined;
}

function metadataOf(text: string): Pick<SessionSummary, "metadata"> {
  const metadata = JSON.parse(text) as SessionSummary["metadata"] | null;
  return metadata ? { metadata } : {};
}

/** What is left of a session whose key was erased. */
function withoutTexts({ title: _, participants: __, metadata: ___, lastRun, ...summary }: SessionSummary): SessionSummary {
  return lastRun ? { ...summary, lastRun: { status: lastRun.status, reason: "" } } : summary;
}
