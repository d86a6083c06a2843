/** What tests of configuration stores are made with. */
export { configStoreKit } from "./config-store-kit.ts";
