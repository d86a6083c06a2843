import type { OwnProvider } from "@loopwright/client";
import { type ReactNode, useRef, useState } from "react";
import { Icon } from "../../app/icon.tsx";
import { ProblemNote } from "../../app/problem-note.tsx";
import { ProviderCard } from "./provider-card.tsx";
import { ProviderForm } from "./provider-form.tsx";
import { useProviders } from "./use-providers.ts";
import "./providers.css";

/** The models that the user brought: added, changed, tested, deleted. */
export function ProvidersSection(): ReactNode {
  const { offered, error, load, take, drop, activate } = useProviders();
  const [form, setForm] = useState<OwnProvider | "new">();
  const top = useRef<HTMLParagraphElement>(null);
  if (error)
    return (
      <ProblemNote error={error}>
        <button type="button" className="button small" onClick={load}>
          Try again
        </button>
      </ProblemNote>
    );
  if (!offered)
    return (
      <p className="settings-loading" role="status">
        <span className="spinner" /> Loading
      </p>
    );
  const { mode, builders, providers } = offered;
  const isOpen = mode === "AllowUserProviders";
  const done = (saved: OwnProvider | undefined): void => {
    setForm(undefined);
    if (saved) take(saved);
    // It may have been given up because another page had changed it.
    else load();
    top.current?.focus();
  };
  return (
    <>
      <p ref={top} tabIndex={-1} className="settings-hint provider-top">
        {isOpen
          ? "Your messages go to the active model, with your key. With none active they use the models of this deployment. Keys are stored encrypted and never shown again."
          : "This deployment provides the models; keys of your own cannot be added."}
      </p>
      {providers.length === 0 ? <p className="settings-empty">You have not added a model yet.</p> : null}
      <ul className="settings-cards" aria-label="Models">
        {providers.map((provider) => (
          <li key={provider.instanceId}>
            {form !== "new" && form?.instanceId === provider.instanceId ? (
              <ProviderForm choices={builders} before={provider} onDone={done} />
            ) : (
              <ProviderCard
                provider={provider}
                title={builders.find(({ providerId }) => providerId === provider.providerId)?.title ?? provider.providerId}
                onEdit={() => setForm(provider)}
                onActivate={() => activate(provider.instanceId, !provider.active)}
                onDeleted={() => {
                  drop(provider.instanceId);
                  top.current?.focus();
                }}
              />
            )}
          </li>
        ))}
        {form === "new" ? (
          <li>
            <ProviderForm choices={builders} before={undefined} onDone={done} />
          </li>
        ) : null}
      </ul>
      {isOpen && form === undefined ? (
        <div>
          <button type="button" className="button" onClick={() => setForm("new")}>
            <Icon name="plus" />
            Add a model
          </button>
        </div>
      ) : null}
    </>
  );
}
