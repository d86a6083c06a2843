/** A data key, encrypted by a master key. */
export interface WrappedKey {
  /** The master key that opens it. */
  readonly masterId: string;
  readonly bytes: Uint8Array;
}

/** Wraps data keys: with master keys of this process (`masterKeys`), or with those of a key service. */
export interface KeyRing {
  /** The master key that new data keys are wrapped with. */
  readonly currentId: string;
  /** Wraps 32 bytes with the current master key, bound to the context. */
  wrap(dataKey: Uint8Array, context: string): Promise<WrappedKey>;
  /** @throws AgentError SECRET_UNREADABLE for a master key that it does not have, for another context and for changed bytes */
  unwrap(wrapped: WrappedKey, context: string): Promise<Uint8Array>;
}
