import type { SecretStore } from "../ports/secret-store.ts";
import { checkSecret } from "../stores/check-secret.ts";

/** Secrets in the memory of this process, unencrypted: for tests. */
export function memorySecrets(): SecretStore {
  return new SecretsInMemory();
}

class SecretsInMemory implements SecretStore {
  readonly #scopes = new Map<string, Map<string, string>>();

  async get(scope: string, name: string): Promise<string | undefined> {
    checkSecret(scope, name);
    return this.#scopes.get(scope)?.get(name);
  }

  async set(scope: string, name: string, value: string): Promise<void> {
    checkSecret(scope, name, value);
    const own = this.#scopes.get(scope) ?? new Map<string, string>();
    this.#scopes.set(scope, own.set(name, value));
  }

  async remove(scope: string, name: string): Promise<boolean> {
    checkSecret(scope, name);
    return this.#scopes.get(scope)?.delete(name) ?? false;
  }

  async names(scope: string): Promise<readonly string[]> {
    checkSecret(scope);
    return [...(this.#scopes.get(scope)?.keys() ?? [])].sort();
  }
}
