import { AgentError, type Usage } from "@loopwright/core";
import { type Embedder, isId } from "@loopwright/core/ports";
import { searchWords } from "@loopwright/core/stores";
import { fusedRanks } from "./fused-ranks.ts";
import { checkedLimits, type KnowledgeLimits } from "./knowledge-limits.ts";
import type { DocumentKind, KnowledgeDocument, KnowledgeStore, PassageHit, StoredPassage } from "./store/knowledge-store.ts";
import { type DocumentContent, passagesOf } from "./text/passages-of.ts";

/** Names a collection of a scope. */
export interface KnowledgePlace {
  readonly scope: string;
  /** 1 to 200 letters, digits, `_`, `-`, `.`, `:` and `/`. Default `shared`. See `sessionCollection` and `chatbotCollection`. */
  readonly collection?: string;
}

/** A document to learn: its id, its title and its content. */
export type NewDocument = DocumentContent & {
  /** 1 to 200 characters. A document of the same collection and id is replaced. */
  readonly id: string;
  /** At most 200 characters. Default: the title in the content, else the id. */
  readonly title?: string;
};

/** A passage that fits a question. */
export interface FoundPassage {
  /** `<collection>/<document>#<index>`. */
  readonly source: string;
  readonly document: string;
  readonly collection: string;
  readonly title: string;
  readonly kind: DocumentKind;
  /** From 0, in the order of the document. */
  readonly index: number;
  readonly text: string;
  /** The higher the better; comparable within one search alone. */
  readonly score: number;
}

export interface SearchResult {
  /** Best first. */
  readonly passages: readonly FoundPassage[];
  /** `hybrid`: by words and by vectors; `keyword`: by words alone. */
  readonly ranking: "hybrid" | "keyword";
  /** Why the embedder was not used although there is one: its error. */
  readonly problem?: unknown;
  /** What the embedder used. */
  readonly usage?: Usage;
}

export interface Knowledge {
  /** The embedder that was given. */
  readonly embedder: Embedder | undefined;
  /**
   * Learns a document: all of it or, where it fails, nothing.
   * @throws AgentError INPUT_INVALID, MEDIA_TYPE_UNSUPPORTED, PAYLOAD_TOO_LARGE, MODEL_* of the embedder, STORE_*
   */
  add(
    place: KnowledgePlace,
    document: NewDocument,
    options?: { readonly signal?: AbortSignal },
  ): Promise<{ readonly document: KnowledgeDocument; readonly usage?: Usage }>;
  /** Removes the document, its passages, words and vectors. False: there was none. @throws AgentError INPUT_INVALID, STORE_* */
  remove(place: KnowledgePlace, id: string): Promise<boolean>;
  /** Removes all documents of a scope, of all its collections. How many there were. @throws AgentError INPUT_INVALID, STORE_* */
  removeScope(scope: string): Promise<number>;
  /** By id. @throws AgentError INPUT_INVALID, STORE_* */
  list(place: KnowledgePlace): Promise<readonly KnowledgeDocument[]>;
  /**
   * The passages of these collections of this scope that fit the question best. An embedder that fails leaves the search by words.
   * @throws AgentError INPUT_INVALID, STORE_*; the signal's reason once it is aborted
   */
  search(
    where: { readonly scope: string; readonly collections: readonly string[] },
    question: string,
    options?: { readonly limit?: number; readonly signal?: AbortSignal },
  ): Promise<SearchResult>;
  close(): Promise<void>;
}

export interface KnowledgeOptions {
  readonly store: KnowledgeStore;
  /** Gives passages and questions vectors. Default: none, and searches go by words alone. */
  readonly embedder?: Embedder;
  readonly limits?: Partial<KnowledgeLimits>;
}

/** The collection that all sessions of a scope search. */
export const sharedCollection = "shared";
/** The collection of what was attached to a session. */
export const sessionCollection = (sessionId: string): string => `session/${sessionId}`;
/** The collection of a chatbot. */
export const chatbotCollection = (name: string): string => `chatbot/${name}`;

/** Words of a question that count. */
const wordsMax = 32;
/** Candidates of each ranking for one passage that is wanted, and at least. */
const candidatesPerResult = 4;
const candidatesMin = 20;
const titleMax = 200;
const defaultResults = 5;

/** Knowledge of documents, apart by scope and collection. @throws AgentError CONFIG_INVALID */
export function createKnowledge(options: KnowledgeOptions): Knowledge {
  const { store, embedder } = options ?? {};
  if (typeof store?.byWords !== "function")
    throw new AgentError("CONFIG_INVALID", {
      message: "The knowledge has no store.",
      fix: "Pass `store`, for example `memoryKnowledgeStore()`.",
    });
  const limits = checkedLimits(options.limits);
  return {
    embedder,
    async add(place, { id, title, ...content }, { signal = new AbortController().signal } = {}) {
      const { scope, collection } = checkedPlace(place);
      checkId(id);
      signal.throwIfAborted();
      const read = passagesOf(content, limits);
      const embedded = await embedder?.embed({ texts: read.passages, purpose: "passage" }, { signal });
      const document: KnowledgeDocument = {
        id,
        collection,
        title: (title ?? read.title ?? id).slice(0, titleMax),
        kind: read.kind,
        passageCount: read.passages.length,
        ...(embedder ? { embedding: embeddingOf(embedder) } : {}),
      };
      const passages = read.passages.map((text, at): StoredPassage => {
        const vector = embedded?.vectors[at];
        return { text, words: searchWords(text), ...(vector ? { vector: unitVector(vector) } : {}) };
      });
      signal.throwIfAborted();
      await store.put(scope, document, passages);
      return { document, ...(embedded?.usage ? { usage: embedded.usage } : {}) };
    },
    async remove(place, id) {
      const { scope, collection } = checkedPlace(place);
      return store.remove(scope, collection, id);
    },
    removeScope: async (scope) => store.removeScope(checkedPlace({ scope }).scope),
    async list(place) {
      const { scope, collection } = checkedPlace(place);
      return store.list(scope, collection);
    },
    search: (where, question, more) => search({ store, embedder, limits }, { where, question, more }),
    close: () => store.close(),
  };
}

interface SearchParts extends Pick<KnowledgeOptions, "store"> {
  readonly embedder: Embedder | undefined;
  readonly limits: KnowledgeLimits;
}

interface Asked {
  readonly where: Parameters<Knowledge["search"]>[0];
  readonly question: string;
  readonly more: Parameters<Knowledge["search"]>[2];
}

async function search({ store, embedder, limits }: SearchParts, { where, question, more = {} }: Asked): Promise<SearchResult> {
  const { limit = defaultResults, signal = new AbortController().signal } = more;
  const collections = where.collections.map((collection) => checkedPlace({ scope: where.scope, collection }).collection);
  signal.throwIfAborted();
  const wanted = Math.min(Math.max(1, Math.floor(limit) || 1), limits.resultsMax);
  const sought = question.trim().slice(0, limits.queryMax).toWellFormed();
  const place = { scope: where.scope, collections, limit: Math.max(candidatesMin, wanted * candidatesPerResult) };
  if (sought === "" || collections.length === 0) return { passages: [], ranking: "keyword" };
  const words = [...new Set(searchWords(sought))].slice(0, wordsMax);
  const vector = await vectorOf(embedder, sought, signal);
  const byWords = await store.byWords(place, words);
  const byVector =
    vector.values && embedder ? await store.byVector(place, { embedding: embeddingOf(embedder), vector: vector.values }) : [];
  signal.throwIfAborted();
  const passages = fusedRanks([byWords, byVector], sourceOf)
    .slice(0, wanted)
    .map(({ item, score }) => foundPassage(item, score));
  const { usage, problem } = vector;
  return {
    passages,
    ranking: vector.values ? "hybrid" : "keyword",
    ...(usage ? { usage } : {}),
    ...(problem === undefined ? {} : { problem }),
  };
}

interface QuestionVector {
  readonly values?: Float32Array;
  readonly usage?: Usage;
  readonly problem?: unknown;
}

async function vectorOf(embedder: Embedder | undefined, question: string, signal: AbortSignal): Promise<QuestionVector> {
  if (!embedder) return {};
  try {
    const { vectors, usage } = await embedder.embed({ texts: [question], purpose: "query" }, { signal });
    return { values: unitVector(vectors[0] ?? []), ...(usage ? { usage } : {}) };
  } catch (problem) {
    signal.throwIfAborted();
    return { problem };
  }
}

const embeddingOf = ({ name, model }: Embedder): string => `${name}/${model}`;

const sourceOf = ({ document: { collection, id }, index }: PassageHit): string => `${collection}/${id}#${index}`;

function foundPassage(hit: PassageHit, score: number): FoundPassage {
  const { id, collection, title, kind } = hit.document;
  return { source: sourceOf(hit), document: id, collection, title, kind, index: hit.index, text: hit.text, score };
}

function unitVector(values: readonly number[]): Float32Array {
  const size = Math.hypot(...values);
  return Float32Array.from(values, (value) => (size === 0 ? 0 : value / size));
}

function checkedPlace({ scope, collection = sharedCollection }: KnowledgePlace): { readonly scope: string; readonly collection: string } {
  if (!isId(scope))
    throw new AgentError("INPUT_INVALID", { message: "The scope of the knowledge is no id.", fix: "Pass `access.scope` of the caller." });
  if (typeof collection !== "string" || !/^[\w.:/-]{1,200}$/.test(collection))
    throw new AgentError("INPUT_INVALID", {
      message: "The name of the collection is not usable.",
      fix: "Use 1 to 200 letters, digits, `_`, `-`, `.`, `:` and `/`.",
    });
  return { scope, collection };
}

function checkId(id: string): void {
  if (typeof id === "string" && /^[^\p{C}]{1,200}$/u.test(id)) return;
  throw new AgentError("INPUT_INVALID", {
    message: "The id of the document is not usable.",
    fix: "Use 1 to 200 characters, none of them a control character.",
  });
}
