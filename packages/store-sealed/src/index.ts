/** Encrypts what a session store keeps, with a key for each session. */
export { type SealedStoreOptions, sealedStore } from "./sealed-store.ts";
export type { SessionKeys } from "./session-keys.ts";
export { type WrappedKeys, type WrappedKeysOptions, wrappedKeys } from "./wrapped-keys.ts";
