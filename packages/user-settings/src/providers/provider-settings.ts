/*
 * Owns: the models that users bring: what is saved of them, which one is active, and the model of a call.
 * Does not own: keys (secrets), where entries are (records), HTTP (provider-routes).
 * Invariants
 *  P1 an entry holds a reference to a key, and no method gives the key to a caller;
 *  P2 a key is sent to the address that it was entered for: another address needs the key again;
 *  P3 an active instance that cannot be used is an error: never the platform's key in its place.
 */
import { type Access, AgentError, isAgentError, type JsonObject, type ModelQuestion, type ModelRef } from "@loopwright/core";
import type { Clock, IdSource, SecretStore } from "@loopwright/core/ports";
import type { RecordOwner, UserRecords } from "../records/user-records.ts";
import type { GuardedTransport } from "./guarded-transport.ts";
import { type ChangedInstance, changedInstance, checkedInput, newInstance } from "./instance-input.ts";
import type { AIProviderInstance, ProviderBuilder, ShownInstance } from "./provider-instance.ts";
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
  /** @throws AgentError FORBIDDEN, PROVIDER_NOT_FOUND, INPUT_INVALID, STORE_* */
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
      providers: all.map(({ value }) => shown(instanceOf(value), active)),
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
    const secretKeyRef = `ai-provider.${instanceId}`;
    const { providerId, model, displayName } = fields;
    const instance: AIProviderInstance = {
      instanceId,
      providerId,
      model,
      displayName,
      secretKeyRef,
      revision: 1,
      ...(baseUrl ? { baseUrl } : {}),
    };
    const isFirst = (await records.list(owner, "provider")).length === 0;
    await secrets.set(owner.scope, secretKeyRef, key);
    try {
      await records.put(owner, "provider", { id: instanceId, value: { ...instance } });
    } catch (error) {
      // Without its entry the key would stay for ever.
      await secrets.remove(owner.scope, secretKeyRef);
      throw error;
    }
    if (isActive ?? isFirst) await this.#activate(owner, instanceId);
    return shown(instance, await this.#active(owner));
  }

  async change(owner: RecordOwner, instanceId: string, input: unknown): Promise<ShownInstance> {
    this.#check();
    const wanted: ChangedInstance = checkedInput(changedInstance, input);
    const { records, secrets } = this.#options;
    const before = await this.#instance(owner, instanceId);
    const { baseUrl: oldBase, ...rest } = before;
    const asked = wanted.baseUrl === undefined ? oldBase : (wanted.baseUrl ?? undefined);
    const baseUrl = asked === oldBase ? oldBase : await this.#checkedBase(before.providerId, asked);
    if (baseUrl !== oldBase && wanted.key === undefined)
      throw new AgentError("INPUT_INVALID", {
        message: "The address of the provider was changed without its key.",
        fix: "Enter the key again: it is sent only to the address that it was entered for.",
      });
    const instance: AIProviderInstance = {
      ...rest,
      model: wanted.model ?? before.model,
      displayName: wanted.displayName ?? before.displayName,
      revision: before.revision + 1,
      ...(baseUrl === undefined ? {} : { baseUrl }),
    };
    // Under a name of its own: a call that has read the entry before must not take the new key to the old address.
    const isNewKey = wanted.key !== undefined;
    const secretKeyRef = isNewKey ? `ai-provider.${instanceId}.${this.#options.ids.next()}` : before.secretKeyRef;
    if (wanted.key !== undefined) await secrets.set(owner.scope, secretKeyRef, wanted.key);
    try {
      await records.put(owner, "provider", { id: instanceId, value: { ...instance, secretKeyRef } });
    } catch (error) {
      // Without its entry the key would stay for ever.
      if (isNewKey) await secrets.remove(owner.scope, secretKeyRef);
      throw error;
    }
    if (isNewKey) await secrets.remove(owner.scope, before.secretKeyRef);
    if (wanted.active === true) await this.#activate(owner, instanceId);
    else if (wanted.active === false && (await this.#active(owner)) === instanceId)
      await records.remove(owner, "active-provider", activeId);
    return shown(instance, await this.#active(owner));
  }

  async remove(owner: RecordOwner, instanceId: string): Promise<void> {
    this.#check();
    const { records, secrets } = this.#options;
    const instance = await this.#instance(owner, instanceId);
    if ((await this.#active(owner)) === instanceId) await records.remove(owner, "active-provider", activeId);
    await records.remove(owner, "provider", instanceId);
    await secrets.remove(owner.scope, instance.secretKeyRef);
  }

  async test(owner: RecordOwner, instanceId: string, signal?: AbortSignal): Promise<TestResult> {
    this.#check();
    const instance = await this.#instance(owner, instanceId);
    const { clock } = this.#options;
    return testedProvider(() => this.#refOf(owner, instance), { clock, ...(signal ? { signal } : {}) });
  }

  async resolveModel({ access }: { readonly access: Access }): Promise<ModelRef | undefined> {
    const { mode, records } = this.#options;
    if (mode === "PlatformOnly") return undefined;
    for (let tries = 0; ; tries++) {
      const active = await this.#active(access);
      const value = active === undefined ? undefined : await records.get(access, "provider", active);
      // It was removed while it was read: another one may be active now. Never the deployment's key in its place.
      if (active !== undefined && !value && tries === 0) continue;
      if (!value) return undefined;
      const instance = instanceOf(value);
      try {
        return (await this.#refOf(access, instance)).ref;
      } catch (error) {
        const now = await records.get(access, "provider", instance.instanceId);
        // It was changed while it was read.
        if (tries > 0 || now?.["revision"] === instance.revision) throw error;
      }
    }
  }

  /** @throws AgentError OWN_KEY_UNUSABLE, STORE_* */
  async #refOf({ scope }: RecordOwner, instance: AIProviderInstance): Promise<{ readonly ref: ModelRef; readonly key: string }> {
    const { instanceId, providerId, model, secretKeyRef, displayName, baseUrl, revision } = instance;
    const { secrets, builders, transport } = this.#options;
    const unusable = (why: string, cause?: unknown): AgentError =>
      new AgentError("OWN_KEY_UNUSABLE", { message: `Your provider ${JSON.stringify(displayName)} cannot be used: ${why}.`, cause });
    const builder = Object.hasOwn(builders, providerId) ? builders[providerId] : undefined;
    if (!builder) throw unusable("this deployment has no such vendor any more");
    let key: string | undefined;
    try {
      key = await secrets.get(scope, secretKeyRef);
    } catch (error) {
      throw isAgentError(error, "SECRET_UNREADABLE") ? unusable("its stored key cannot be read", error) : error;
    }
    if (key === undefined) throw unusable("its key is missing");
    let own: { readonly baseURL: string; readonly transport: typeof fetch } | undefined;
    if (baseUrl !== undefined) {
      if (!transport) throw unusable("this deployment does not take addresses of users any more");
      const address = await transport.admit(baseUrl).catch((error: unknown) => {
        throw unusable("its address may not be reached", error);
      });
      own = { baseURL: trimmed(address), transport: transport.fetch };
    }
    const provider = builder.create({ apiKey: key, model, ...own });
    return { ref: { provider, model, keyOwner: "user", keyId: `${instanceId}.${revision}` }, key };
  }

  async #active(owner: RecordOwner): Promise<string | undefined> {
    const record = await this.#options.records.get(owner, "active-provider", activeId);
    return typeof record?.["instanceId"] === "string" ? record["instanceId"] : undefined;
  }

  #activate(owner: RecordOwner, instanceId: string): Promise<void> {
    return this.#options.records.put(owner, "active-provider", { id: activeId, value: { instanceId } });
  }

  async #instance(owner: RecordOwner, instanceId: string): Promise<AIProviderInstance> {
    const value = await this.#options.records.get(owner, "provider", instanceId);
    if (!value) throw new AgentError("PROVIDER_NOT_FOUND", { message: `There is no provider \`${instanceId.slice(0, 64)}\`.` });
    return instanceOf(value);
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
    return trimmed(await transport.admit(baseUrl));
  }

  #check(): void {
    if (this.#options.mode === "AllowUserProviders") return;
    throw new AgentError("FORBIDDEN", {
      message: "This deployment takes no providers of users.",
      fix: "Use the models that it provides.",
    });
  }
}

const trimmed = ({ href }: URL): string => href.replace(/\/+$/, "");

function shown({ instanceId, providerId, model, displayName, baseUrl }: AIProviderInstance, active: string | undefined): ShownInstance {
  return {
    instanceId,
    providerId,
    model,
    displayName,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    active: active === instanceId,
    hasKey: true,
  };
}

function instanceOf(value: JsonObject): AIProviderInstance {
  const text = (name: string): string => String(value[name] ?? "");
  const { baseUrl } = value;
  return {
    instanceId: text("instanceId"),
    providerId: text("providerId"),
    model: text("model"),
    secretKeyRef: text("secretKeyRef"),
    displayName: text("displayName"),
    revision: Number(value["revision"] ?? 1),
    ...(typeof baseUrl === "string" ? { baseUrl } : {}),
  };
}
