/** Acme as a store of Loopwright. */
export { type AcmeStoreOptions, acmeStore } from "./acme-store.ts";
