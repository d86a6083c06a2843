import type { WrappedKey } from "../key-ring.ts";

/** What is stored of a scope beside its secrets. */
export interface ScopeHead {
  /** Counts the writes of the scope, from 1. */
  readonly revision: number;
  /** The data key of the scope. */
  readonly key: WrappedKey;
  /** The encrypted list of names, each with the revision that its secret was written at. */
  readonly seal: Uint8Array;
}

/** One state of a scope: what one write left, never half of another. */
export interface ScopeRead {
  /** Absent: nothing was ever stored in the scope. */
  readonly head?: ScopeHead;
  /** The encrypted secret of the name that was asked for. */
  readonly record?: Uint8Array;
}

export interface ScopeWrite {
  /** The revision that the writer has read; 0: there was none. */
  readonly expected: number;
  readonly head: ScopeHead;
  /** A secret that changes with it; `bytes` absent: it is removed. */
  readonly record?: { readonly name: string; readonly bytes?: Uint8Array };
}

/** Where encrypted bytes are kept. It sees no value and no key. */
export interface SecretStorage {
  read(scope: string, name?: string): Promise<ScopeRead>;
  /** All of it or nothing; false: the scope has another revision than `expected`. */
  write(scope: string, change: ScopeWrite): Promise<boolean>;
  /** Every scope that has a head, sorted. */
  scopes(): Promise<readonly string[]>;
}
