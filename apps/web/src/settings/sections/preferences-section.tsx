import type { OwnSettings } from "@loopwright/client";
import type { AgentError } from "@loopwright/core/protocol";
import { type FormEvent, type ReactNode, useCallback, useEffect, useId, useState } from "react";
import { ProblemNote } from "../../app/problem-note.tsx";
import { useServices } from "../../app/services.ts";
import "../providers/providers.css";

/** How the user wants to be answered, what is remembered, and the plan. */
export function PreferencesSection(): ReactNode {
  const { client } = useServices();
  const id = useId();
  const [settings, setSettings] = useState<OwnSettings>();
  const [error, setError] = useState<AgentError>();
  const [isSaved, setSaved] = useState(false);
  const load = useCallback((): void => {
    setError(undefined);
    client.settings.read().then(setSettings, setError);
  }, [client]);
  useEffect(load, [load]);
  if (!settings)
    return error ? (
      <ProblemNote error={error} />
    ) : (
      <p className="settings-loading" role="status">
        <span className="spinner" /> Loading
      </p>
    );
  const save = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const rule = String(data.get("rule") ?? "").trim();
    setError(undefined);
    client.settings
      .change({
        personalization: { enabled: data.has("personal"), text: String(data.get("text") ?? "") },
        memory: { enabled: data.has("memory") },
        projectRule: rule === "" ? null : rule,
      })
      .then((next) => {
        setSettings(next);
        setSaved(true);
      }, setError);
  };
  return (
    <form className="provider-form" aria-label="Preferences" onSubmit={save} onChange={() => setSaved(false)}>
      <p className="settings-hint">Your plan: {settings.plan}</p>
      <span className="preference">
        <input id={`${id}-personal`} type="checkbox" name="personal" defaultChecked={settings.personalization.enabled} />
        <label htmlFor={`${id}-personal`}>Answer me as I describe it here</label>
      </span>
      <label htmlFor={`${id}-text`}>
        How to answer
        <textarea id={`${id}-text`} className="field" name="text" maxLength={4_000} defaultValue={settings.personalization.text} />
      </label>
      <label htmlFor={`${id}-rule`}>
        Rule for all my conversations
        <textarea id={`${id}-rule`} className="field" name="rule" maxLength={4_000} defaultValue={settings.projectRule ?? ""} />
      </label>
      <span className="preference">
        <input id={`${id}-memory`} type="checkbox" name="memory" defaultChecked={settings.memory.enabled} />
        <label htmlFor={`${id}-memory`}>Agents with a memory may remember facts about me</label>
      </span>
      {error ? <ProblemNote error={error} /> : null}
      <div className="provider-actions">
        <button type="submit" className="button primary">
          Save
        </button>
        <span role="status" className="settings-hint">
          {isSaved ? "Saved. It counts from your next message." : ""}
        </span>
      </div>
    </form>
  );
}
