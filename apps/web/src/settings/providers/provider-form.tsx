import type { OwnProvider, ProviderChoice } from "@loopwright/client";
import type { AgentError } from "@loopwright/core/protocol";
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { ProblemNote } from "../../app/problem-note.tsx";
import { useServices } from "../../app/services.ts";

export interface ProviderFormProps {
  readonly choices: readonly ProviderChoice[];
  /** The one that is changed; absent: a new one. */
  readonly before: OwnProvider | undefined;
  /** With what was saved; without: it was given up. */
  readonly onDone: (saved: OwnProvider | undefined) => void;
}

/** The fields of a model. The key is typed here, sent once, and not kept in the page. */
export function ProviderForm({ choices, before, onDone }: ProviderFormProps): ReactNode {
  const { client } = useServices();
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const [providerId, setProviderId] = useState(before?.providerId ?? choices[0]?.providerId ?? "");
  const [baseUrl, setBaseUrl] = useState(before?.baseUrl ?? "");
  const [error, setError] = useState<AgentError>();
  const [isSaving, setSaving] = useState(false);
  const choice = choices.find((each) => each.providerId === providerId);
  useEffect(() => form.current?.querySelector<HTMLElement>("select, input")?.focus(), []);
  const isMoved = before !== undefined && baseUrl.trim() !== (before.baseUrl ?? "");
  const save = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const text = (name: string): string => String(data.get(name) ?? "").trim();
    const [model, key, address] = [text("model"), text("key"), baseUrl.trim()];
    const displayName = text("displayName") || `${choice?.title ?? providerId} ${model}`;
    setSaving(true);
    setError(undefined);
    const common = { model, displayName, ...(key === "" ? {} : { key }) };
    const saved = before
      ? client.providers.change(before.instanceId, {
          ...common,
          revision: before.revision,
          ...(isMoved ? { baseUrl: address === "" ? null : address } : {}),
        })
      : client.providers.add({ ...common, key, providerId, ...(address === "" ? {} : { baseUrl: address }) });
    saved.then(onDone, (refused: AgentError) => {
      setSaving(false);
      setError(refused);
    });
  };
  return (
    <form ref={form} className="provider-form" aria-label={before ? `Edit ${before.displayName}` : "Add a model"} onSubmit={save}>
      {before ? null : (
        <label htmlFor={`${id}-vendor`}>
          Vendor
          <select id={`${id}-vendor`} className="field" value={providerId} onChange={(event) => setProviderId(event.target.value)}>
            {choices.map(({ providerId: each, title }) => (
              <option key={each} value={each}>
                {title}
              </option>
            ))}
          </select>
        </label>
      )}
      <label htmlFor={`${id}-model`}>
        Model
        <input
          key={providerId}
          id={`${id}-model`}
          className="field"
          name="model"
          required
          autoComplete="off"
          defaultValue={before?.model ?? choice?.defaultModel ?? ""}
        />
      </label>
      <label htmlFor={`${id}-key`}>
        Key
        <input
          id={`${id}-key`}
          className="field"
          name="key"
          type="password"
          autoComplete="off"
          required={!before || isMoved}
          placeholder={before ? (isMoved ? "Enter it again for the new address" : "Stored; leave empty to keep it") : ""}
        />
      </label>
      {choice && choice.baseUrl !== "refused" ? (
        <label htmlFor={`${id}-url`}>
          Address of the server
          <input
            id={`${id}-url`}
            className="field"
            type="url"
            autoComplete="off"
            required={choice.baseUrl === "required"}
            placeholder={choice.baseUrl === "required" ? "https://models.example/v1" : "The vendor's own"}
            value={baseUrl}
            onChange={(event) => setBaseUrl(event.target.value)}
          />
        </label>
      ) : null}
      <label htmlFor={`${id}-name`}>
        Name
        <input
          id={`${id}-name`}
          className="field"
          name="displayName"
          autoComplete="off"
          placeholder="Vendor and model"
          defaultValue={before?.displayName ?? ""}
        />
      </label>
      {error ? <ProblemNote error={error} /> : null}
      <div className="provider-actions">
        <button type="submit" className="button primary" disabled={isSaving}>
          Save
        </button>
        <button type="button" className="button" onClick={() => onDone(undefined)}>
          Cancel
        </button>
      </div>
    </form>
  );
}
