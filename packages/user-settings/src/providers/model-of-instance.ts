import { AgentError, isAgentError, type ModelRef } from "@loopwright/core";
import type { SecretStore } from "@loopwright/core/ports";
import type { GuardedTransport } from "./guarded-transport.ts";
import type { AIProviderInstance, ProviderBuilder } from "./provider-instance.ts";

interface InstanceParts {
  readonly secrets: SecretStore;
  readonly builders: { readonly [providerId: string]: ProviderBuilder };
  readonly transport?: GuardedTransport;
}

/** The model of an instance with its key. @throws AgentError OWN_KEY_UNUSABLE, STORE_* */
export async function modelOfInstance(
  { secrets, builders, transport }: InstanceParts,
  scope: string,
  { instanceId, providerId, model, secretKeyRef, displayName, baseUrl, revision }: AIProviderInstance,
): Promise<{ readonly ref: ModelRef; readonly key: string }> {
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
      // The look-up failed now: the call, which looks it up again, fails like one whose connection breaks, and is tried again like one.
      if (isAgentError(error) && error.details?.["reason"] === "host_not_found") return new URL(baseUrl);
      throw unusable("its address may not be reached", error);
    });
    own = { baseURL: trimmedUrl(address), transport: transport.fetch };
  }
  const provider = builder.create({ apiKey: key, model, ...own });
  return { ref: { provider, model, keyOwner: "user", keyId: `${instanceId}.${revision}` }, key };
}

/** The address as it is stored and called. */
export const trimmedUrl = ({ href }: URL): string => href.replace(/\/+$/, "");
