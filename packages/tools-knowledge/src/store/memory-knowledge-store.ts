import { BestHits, productOf } from "./best-hits.ts";
import type { KnowledgeDocument, KnowledgeStore, PassageHit, SearchPlace, StoredPassage } from "./knowledge-store.ts";

/** A passage with its words counted. */
interface CountedPassage extends StoredPassage {
  readonly counts: ReadonlyMap<string, number>;
}

interface KeptDocument {
  readonly document: KnowledgeDocument;
  readonly passages: readonly CountedPassage[];
}

interface KeptPassage {
  readonly kept: KeptDocument;
  readonly passage: CountedPassage;
  readonly index: number;
}

/** Knowledge in the memory of this process, for tests and small programs: each search looks at all passages of its place. */
export function memoryKnowledgeStore(): KnowledgeStore {
  const scopes = new Map<string, Map<string, Map<string, KeptDocument>>>();
  const documentsIn = (scope: string, collection: string): ReadonlyMap<string, KeptDocument> =>
    scopes.get(scope)?.get(collection) ?? new Map<string, KeptDocument>();

  function* passagesIn({ scope, collections }: SearchPlace): Generator<KeptPassage> {
    for (const collection of new Set(collections))
      for (const kept of documentsIn(scope, collection).values())
        for (const [index, passage] of kept.passages.entries()) yield { kept, passage, index };
  }

  return {
    put: async (scope, document, passages) => {
      const collections = scopes.get(scope) ?? new Map<string, Map<string, KeptDocument>>();
      const documents = collections.get(document.collection) ?? new Map<string, KeptDocument>();
      scopes.set(scope, collections.set(document.collection, documents));
      documents.set(document.id, { document, passages: passages.map((passage) => ({ ...passage, counts: countsOf(passage.words) })) });
    },
    remove: async (scope, collection, id) => scopes.get(scope)?.get(collection)?.delete(id) ?? false,
    async removeScope(scope) {
      const collections = [...(scopes.get(scope)?.values() ?? [])];
      scopes.delete(scope);
      return collections.reduce((sum, { size }) => sum + size, 0);
    },
    list: async (scope, collection) =>
      [...documentsIn(scope, collection).values()].map(({ document }) => document).sort((a, b) => (a.id < b.id ? -1 : 1)),
    byWords: async (place, words) => byWords([...passagesIn(place)], new Set(words), place.limit),
    byVector: async (place, { embedding, vector }) => {
      const best = new BestHits<PassageHit>(place.limit);
      for (const found of passagesIn(place)) {
        const own = found.passage.vector;
        if (own && found.kept.document.embedding === embedding && own.length === vector.length)
          best.add(productOf(own, vector), () => hitOf(found));
      }
      return best.list();
    },
    close: async () => scopes.clear(),
  };
}

/** As FTS5 of SQLite weighs. @see https://www.sqlite.org/fts5.html#the_bm25_function (2026-11-23) */
const k1 = 1.2;
const b = 0.75;
const leastWeight = 1e-6;

function byWords(passages: readonly KeptPassage[], words: ReadonlySet<string>, limit: number): readonly PassageHit[] {
  const averageLength = passages.reduce((sum, { passage }) => sum + passage.words.length, 0) / Math.max(1, passages.length);
  const weights = new Map<string, number>();
  for (const word of words) {
    const holders = passages.filter(({ passage }) => passage.counts.has(word)).length;
    weights.set(word, Math.max(leastWeight, Math.log((passages.length - holders + 0.5) / (holders + 0.5))));
  }
  const best = new BestHits<PassageHit>(limit);
  for (const found of passages) {
    const { counts, words: own } = found.passage;
    let score = 0;
    for (const [word, weight] of weights) {
      const count = counts.get(word) ?? 0;
      score += (weight * (count * (k1 + 1))) / (count + k1 * (1 - b + (b * own.length) / averageLength));
    }
    if (score > 0) best.add(score, () => hitOf(found));
  }
  return best.list();
}

function countsOf(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function hitOf({ kept: { document }, passage, index }: KeptPassage): PassageHit {
  const { id, collection, title, kind } = document;
  return { document: { id, collection, title, kind }, index, text: passage.text };
}
