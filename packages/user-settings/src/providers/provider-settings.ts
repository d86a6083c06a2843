/*
 * Owns: the models that users bring: what is saved of them, which one is active, and the model of a call.
 * Does not own: keys (secrets), where entries are (records), HTTP (provider-routes).
 * Invariants
 *  P1 an entry holds a reference to a key, and no method gives the key to a caller;
 *  P2 a key is sent to the address that it was entered for: another address needs the key again;
 *  P3 an active instance that cannot be used is an error: never the platform's key in its place.
 */
import { type Access, AgentError, type ModelQuestion, type ModelRef } from "@loopwright/core";
import type { Clock, IdSource, SecretStore } from "@loopwright/core/ports";
import type { RecordOwner, StoredRecord, UserRecords } from "../records/user-records.ts";
import type { GuardedTransport } from "./guarded-transport.ts";
import { type ChangedInstance, changedInstance, checkedInput, newInstance } from "./instance-input.ts";
import { modelOfInstance, trimmedUrl } from "./model-of-instance.ts";
import type { AIProviderInstance, ProviderBuilder, ShownInstance } from "./provider-instance.ts";
import { entryOf, instanceOf, shown } from "./stored-instance.ts";
import { type TestResult, testedProvider } from "./tested-provider.ts";

/** `PlatformOnly`: every call has the deployment's key. `AllowUserProviders`: a user's active instance comes first. */
export type BYOKMode = "PlatformOnly" | "AllowUserProviders";

export interface ProviderSettingsOptions {
  readonly mode: BYOKMode;
  readonly records: UserRecords;
  readonly secrets: SecretStore;
  /** The vendors, by the `providerId` of instances. */
  readonly builders: { readonly [providerId: string]: ProviderBuilder };
  /** For addresses that users name; `guardedTransport()` of `/node`. Default: users may name none. */
  readonly transport?: GuardedTransport;
  /** What the one entry is called that users see under `PlatformOnly`. Default `Provided by this deployment`. */
  readonly platformName?: string;
  readonly ids: IdSource;
  readonly clock: Clock;
}

/** What the settings offer a user. */
export interface OfferedProviders {
  readonly mode: BYOKMode;
  /** The vendors that an instance may be of. Empty under `PlatformOnly`. */
  readonly builders: readonly {
    readonly providerId: string;
    readonly title: string;
    readonly defaultModel?: string;
    readonly baseUrl: "refused" | "optional" | "required";
  }[];
  readonly providers: readonly ShownInstance[];
}

/** Each of the owner's own; another user's is PROVIDER_NOT_FOUND. */
export interface ProviderSettings {
  list(owner: RecordOwner): Promise<OfferedProviders>;
  get(owner: RecordOwner, instanceId: string): Promise<ShownInstance>;
  /** The first instance of a user is active. @throws AgentError FORBIDDEN under `PlatformOnly`, INPUT_INVALID, STORE_* */
  create(owner: RecordOwner, input: unknown): Promise<ShownInstance>;
  /** Fields that are left out stay. @throws AgentError FORBIDDEN, PROVIDER_NOT_FOUND, INPUT_INVALID, STORE_CONFLICT where it has another `revision` than the input names, STORE_* */
  change(owner: RecordOwner, instanceId: string, input: unknown): Promise<ShownInstance>;
  /** Removes the instance and its key. @throws AgentError FORBIDDEN, PROVIDER_NOT_FOUND, STORE_* */
  remove(owner: RecordOwner, instanceId: string): Promise<void>;
  /** Makes one short call. A vendor's refusal is a result. @throws AgentError FORBIDDEN, PROVIDER_NOT_FOUND */
  test(owner: RecordOwner, instanceId: string, signal?: AbortSignal): Promise<TestResult>;
  /** `resolveModel` of a runtime. @throws AgentError OWN_KEY_UNUSABLE, STORE_* */
  resolveModel(question: Pick<ModelQuestion, "access">): Promise<ModelRef | undefined>;
}

export function providerSettings(options: ProviderSettingsOptions): ProviderSettings {
  return new InstancesOfUsers(options);
}

const activeId = "active";
/** How often a change begins again because another one came first. */
const conflictsMax = 10;

class InstancesOfUsers implements ProviderSettings {
  readonly #options: ProviderSettingsOptions;

  constructor(options: ProviderSettingsOptions) {
    this.#options = options;
  }

  async list(owner: RecordOwner): Promise<OfferedProviders> {
    const { mode, builders, records, platformName = "Provided by this deployment" } = this.#options;
    if (mode === "PlatformOnly") {
      const locked: ShownInstance = {
        instanceId: "_platform",
        providerId: "_platform",
        model: "",
        displayName: platformName,
        active: true,
        hasKey: true,
        revision: "",
        locked: true,
      };
      return { mode, builders: [], providers: [locked] };
    }
    const [all, active] = await Promise.all([records.list(owner, "provider"), this.#active(owner)]);
    return {
      mode,
      builders: Object.entries(builders).map(([providerId, { title, defaultModel, baseUrl = "optional" }]) => ({
        providerId,
        title,
        ...(defaultModel === undefined ? {} : { defaultModel }),
        baseUrl: this.#options.transport ? baseUrl : "refused",
      })),
      providers: all.map((record) => shown(instanceOf(record), active)),
    };
  }

  async get(owner: RecordOwner, instanceId: string): Promise<ShownInstance> {
    this.#check();
    return shown(await this.#instance(owner, instanceId), await this.#active(owner));
  }

  async create(owner: RecordOwner, input: unknown): Promise<ShownInstance> {
    this.#check();
    const { key, active: isActive, ...fields } = checkedInput(newInstance, input);
    const { records, secrets, ids } = this.#options;
    const baseUrl = await this.#checkedBase(fields.providerId, fields.baseUrl);
    const instanceId = ids.next();
    const { providerId, model, displayName } = fields;
    const made = { instanceId, providerId, model, displayName, secretKeyRef: keyPrefix(instanceId), ...(baseUrl ? { baseUrl } : {}) };
    const isFirst = (await records.list(owner, "provider")).length === 0;
    // The entry first: after a crash between the two steps the user sees an entry that can be deleted, and no key is left without one.
    const revision = await records.put(owner, "provider", { id: instanceId, value: made, expected: null });
    if (revision === undefined) throw changedMeanwhile();
    try {
      await secrets.set(owner.scope, made.secretKeyRef, key);
    } catch (error) {
      await records.remove(owner, "provider", { id: instanceId, expected: revision });
      throw error;
    }
    if (isActive ?? isFirst) await this.#activate(owner, instanceId);
    return shown({ ...made, revision }, await this.#active(owner));
  }

  async change(owner: RecordOwner, instanceId: string, input: unknown): Promise<ShownInstance> {
    this.#check();
    const wanted: ChangedInstance = checkedInput(changedInstance, input);
    const { records, secrets } = this.#options;
    let first: AIProviderInstance | undefined;
    for (let conflicts = 0; conflicts < conflictsMax; conflicts++) {
      const record = await this.#record(owner, instanceId);
      const before = instanceOf(record);
      first ??= before;
      if (wanted.revision !== undefined && wanted.revision !== before.revision) throw changedMeanwhile();
      // The key was entered for the address of then: it must not be sent to the one that another writer has put.
      if (wanted.key !== undefined && wanted.baseUrl === undefined && before.baseUrl !== first.baseUrl) throw changedMeanwhile();
      const changed = await this.#changed(before, wanted);
      const isNewKey = changed.secretKeyRef !== before.secretKeyRef;
      if (wanted.key !== undefined) await secrets.set(owner.scope, changed.secretKeyRef, wanted.key);
      let revision: string | undefined;
      try {
        revision = await records.put(owner, "provider", {
          ...{ id: instanceId, value: entryOf(changed, record.value), expected: before.revision },
        });
      } finally {
        // Without its entry the key would stay until the instance is deleted.
        if (isNewKey && revision === undefined) await secrets.remove(owner.scope, changed.secretKeyRef);
      }
      if (revision === undefined) continue;
      if (isNewKey) await secrets.remove(owner.scope, before.secretKeyRef);
      if (wanted.active === true) await this.#activate(owner, instanceId);
      else if (wanted.active === false) await this.#deactivate(owner, instanceId);
      return shown({ ...changed, revision }, await this.#active(owner));
    }
    throw changedMeanwhile();
  }

  /** The instance as it will be. @throws AgentError INPUT_INVALID */
  async #changed({ baseUrl: oldBase, ...before }: AIProviderInstance, wanted: ChangedInstance): Promise<AIProviderInstance> {
    const asked = wanted.baseUrl === undefined ? oldBase : (wanted.baseUrl ?? undefined);
    const baseUrl = asked === oldBase ? oldBase : await this.#checkedBase(before.providerId, asked);
    if (baseUrl !== oldBase && wanted.key === undefined)
      throw new AgentError("INPUT_INVALID", {
        message: "The address of the provider was changed without its key.",
        fix: "Enter the key again: it is sent only to the address that it was entered for.",
      });
    return {
      ...before,
      model: wanted.model ?? before.model,
      displayName: wanted.displayName ?? before.displayName,
      // Under a name of its own: a call that has read the entry before must not take the new key to the old address.
      secretKeyRef: wanted.key === undefined ? before.secretKeyRef : `${keyPrefix(before.instanceId)}.${this.#options.ids.next()}`,
      ...(baseUrl === undefined ? {} : { baseUrl }),
    };
  }

  async remove(owner: RecordOwner, instanceId: string): Promise<void> {
    this.#check();
    const { records, secrets } = this.#options;
    await this.#record(owner, instanceId);
    // Keys go before the entry: a removal that a crash cut off can be repeated, and takes keys along that a cut-off change has left.
    await this.#deactivate(owner, instanceId);
    const own = keyPrefix(instanceId);
    for (let conflicts = 0; conflicts < conflictsMax; conflicts++) {
      const record = await records.get(owner, "provider", instanceId);
      for (const name of await secrets.names(owner.scope))
        if (name === own || name.startsWith(`${own}.`)) await secrets.remove(owner.scope, name);
      // Another request has removed it. One that has changed it in between may have stored a key.
      if (!record || (await records.remove(owner, "provider", { id: instanceId, expected: record.revision }))) return;
    }
    throw changedMeanwhile();
  }

  async test(owner: RecordOwner, instanceId: string, signal?: AbortSignal): Promise<TestResult> {
    this.#check();
    const instance = await this.#instance(owner, instanceId);
    const { clock } = this.#options;
    return testedProvider(() => modelOfInstance(this.#options, owner.scope, instance), { clock, ...(signal ? { signal } : {}) });
  }

  async resolveModel({ access }: { readonly access: Access }): Promise<ModelRef | undefined> {
    const { mode, records } = this.#options;
    if (mode === "PlatformOnly") return undefined;
    for (let tries = 0; ; tries++) {
      const active = await this.#active(access);
      const record = active === undefined ? undefined : await records.get(access, "provider", active);
      // It was removed while it was read: another one may be active now. Never the deployment's key in its place.
      if (active !== undefined && !record && tries === 0) continue;
      if (!record) return undefined;
      try {
        return (await modelOfInstance(this.#options, access.scope, instanceOf(record))).ref;
      } catch (error) {
        const [now, stillActive] = await Promise.all([records.get(access, "provider", record.id), this.#active(access)]);
        // It was changed, or is being removed, while it was read.
        if (tries > 0 || (now?.revision === record.revision && stillActive === record.id)) throw error;
      }
    }
  }

  async #active(owner: RecordOwner): Promise<string | undefined> {
    const record = await this.#options.records.get(owner, "active-provider", activeId);
    return typeof record?.value["instanceId"] === "string" ? record.value["instanceId"] : undefined;
  }

  async #activate(owner: RecordOwner, instanceId: string): Promise<void> {
    await this.#options.records.put(owner, "active-provider", { id: activeId, value: { instanceId } });
  }

  async #deactivate(owner: RecordOwner, instanceId: string): Promise<void> {
    const { records } = this.#options;
    const record = await records.get(owner, "active-provider", activeId);
    // Another request may have made another one active meanwhile: that stays.
    if (record?.value["instanceId"] === instanceId)
      await records.remove(owner, "active-provider", { id: activeId, expected: record.revision });
  }

  async #record(owner: RecordOwner, instanceId: string): Promise<StoredRecord> {
    const record = await this.#options.records.get(owner, "provider", instanceId);
    if (record) return record;
    throw new AgentError("PROVIDER_NOT_FOUND", { message: `There is no provider \`${instanceId.slice(0, 64)}\`.` });
  }

  async #instance(owner: RecordOwner, instanceId: string): Promise<AIProviderInstance> {
    return instanceOf(await this.#record(owner, instanceId));
  }

  /** The address as it is stored. @throws AgentError INPUT_INVALID for an unknown vendor, and for an address that is refused, missing or not taken */
  async #checkedBase(providerId: string, baseUrl: string | undefined): Promise<string | undefined> {
    const { builders, transport } = this.#options;
    const builder = Object.hasOwn(builders, providerId) ? builders[providerId] : undefined;
    if (!builder)
      throw new AgentError("INPUT_INVALID", {
        message: `There is no vendor \`${providerId.slice(0, 64)}\`.`,
        fix: `Take one of: ${Object.keys(builders).join(", ")}.`,
      });
    const takes = transport ? (builder.baseUrl ?? "optional") : "refused";
    if (baseUrl === undefined) {
      if (builder.baseUrl !== "required") return undefined;
      throw new AgentError("INPUT_INVALID", { message: `${builder.title} needs the address of a server.`, fix: "Pass `baseUrl`." });
    }
    if (takes === "refused" || !transport)
      throw new AgentError("INPUT_INVALID", { message: `${builder.title} takes no address here.`, fix: "Leave `baseUrl` out." });
    return trimmedUrl(await transport.admit(baseUrl));
  }

  #check(): void {
    if (this.#options.mode === "AllowUserProviders") return;
    throw new AgentError("FORBIDDEN", {
      message: "This deployment takes no providers of users.",
      fix: "Use the models that it provides.",
    });
  }
}

/** What the names of the keys of an instance begin with. */
const keyPrefix = (instanceId: string): string => `ai-provider.${instanceId}`;

const changedMeanwhile = (): AgentError =>
  new AgentError("STORE_CONFLICT", {
    message: "The provider was changed by another request meanwhile.",
    fix: "Read it again, then repeat the change.",
    // The same request would be refused again.
    retryable: false,
  });
