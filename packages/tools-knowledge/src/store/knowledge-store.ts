/** `pasted`: a text that a person pasted into a conversation. */
export type DocumentKind = "text" | "file" | "chat" | "pasted";

/** A document without its text. */
export interface KnowledgeDocument {
  /** Unique in its collection. */
  readonly id: string;
  readonly collection: string;
  readonly title: string;
  readonly kind: DocumentKind;
  readonly passageCount: number;
  /** The embedder of its vectors, as `<name>/<model>`; absent where it has none. */
  readonly embedding?: string;
}

/** A passage as it is stored. */
export interface StoredPassage {
  readonly text: string;
  /** `searchWords(text)` of core. */
  readonly words: readonly string[];
  /** Of length 1. Absent: found by words alone. */
  readonly vector?: Float32Array;
}

/** Where a search looks: nowhere else. */
export interface SearchPlace {
  readonly scope: string;
  /** Names that do not exist are empty. */
  readonly collections: readonly string[];
  /** Most hits. */
  readonly limit: number;
}

/** A passage that was found. */
export interface PassageHit {
  readonly document: Pick<KnowledgeDocument, "id" | "collection" | "title" | "kind">;
  /** From 0, in the order of the document. */
  readonly index: number;
  readonly text: string;
}

/** Keeps documents as passages, apart by scope and collection, and finds passages. */
export interface KnowledgeStore {
  /** Puts the document in the place of the one with its collection and id, with all its passages in their order, or changes nothing. */
  put(scope: string, document: KnowledgeDocument, passages: readonly StoredPassage[]): Promise<void>;
  /** Removes the document and all that was kept for it. False: there was none. */
  remove(scope: string, collection: string, id: string): Promise<boolean>;
  /** Removes all documents of a scope and all that was kept for them. How many there were. */
  removeScope(scope: string): Promise<number>;
  /** By id. */
  list(scope: string, collection: string): Promise<readonly KnowledgeDocument[]>;
  /** Passages that hold any of the words, by BM25, best first. */
  byWords(place: SearchPlace, words: readonly string[]): Promise<readonly PassageHit[]>;
  /** Passages with vectors of this embedder, by the cosine of the angle, best first. `vector` has the length 1. */
  byVector(place: SearchPlace, query: { readonly embedding: string; readonly vector: Float32Array }): Promise<readonly PassageHit[]>;
  close(): Promise<void>;
}
