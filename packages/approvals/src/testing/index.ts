/** What tests of rule stores are made with. */
export { ruleStoreKit } from "./rule-store-kit.ts";
