/** What tests of memory stores are made with. */
export { memoryStoreKit } from "./memory-store-kit.ts";
