/** Encrypted secrets over any storage, and chains of stores. */
export { chainSecrets } from "./chain-secrets.ts";
export { createSecrets, type EncryptedSecrets, type SecretsOptions } from "./create-secrets.ts";
export { type EnvironmentSecretsOptions, environmentSecrets } from "./environment-secrets.ts";
export type { KeyRing, WrappedKey } from "./key-ring.ts";
export { type MasterKey, masterKeyOf, masterKeys, newMasterKey } from "./master-keys.ts";
export { memoryStorage } from "./storage/memory-storage.ts";
export { type ConditionalObjects, type ObjectSecretsOptions, objectStorage } from "./storage/object-storage.ts";
export { type RedisSecretsOptions, redisStorage } from "./storage/redis-storage.ts";
export type { ScopeHead, ScopeRead, ScopeWrite, SecretStorage } from "./storage/secret-storage.ts";
