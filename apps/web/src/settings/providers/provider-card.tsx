import type { OwnProvider, ProviderTest } from "@loopwright/client";
import type { AgentError } from "@loopwright/core/protocol";
import { type ReactNode, useState } from "react";
import { Dialog } from "../../app/dialog.tsx";
import { Icon } from "../../app/icon.tsx";
import { ProblemNote } from "../../app/problem-note.tsx";
import { useServices } from "../../app/services.ts";

export interface ProviderCardProps {
  readonly provider: OwnProvider;
  /** The vendor's name. */
  readonly title: string;
  readonly onEdit: () => void;
  readonly onActivate: () => void;
  readonly onDeleted: () => void;
}

/** One model: what it is, and what can be done with it. */
export function ProviderCard({ provider, title, onEdit, onActivate, onDeleted }: ProviderCardProps): ReactNode {
  const { client } = useServices();
  const [test, setTest] = useState<ProviderTest | "running">();
  const [error, setError] = useState<AgentError>();
  const [isDeleting, setDeleting] = useState(false);
  const { instanceId, displayName, model, baseUrl, active, locked } = provider;
  const runTest = (): void => {
    setError(undefined);
    setTest("running");
    client.providers.test(instanceId).then(setTest, (refused: AgentError) => {
      setTest(undefined);
      setError(refused);
    });
  };
  const remove = (): void => {
    setDeleting(false);
    client.providers.remove(instanceId).then(onDeleted, setError);
  };
  return (
    <>
      <h3>
        {displayName}
        {locked ? (
          <span className="settings-hint"> cannot be changed</span>
        ) : active ? (
          <span className="provider-active">Active</span>
        ) : null}
      </h3>
      {locked ? null : (
        <>
          <p className="settings-hint">
            {title} · {model}
            {baseUrl === undefined ? "" : ` · ${baseUrl}`}
          </p>
          <div className="provider-actions">
            <button
              type="button"
              className="button small"
              aria-label={`${active ? "Stop using" : "Use"} ${displayName}`}
              onClick={onActivate}
            >
              {active ? "Stop using" : "Use"}
            </button>
            <button
              type="button"
              className="button small"
              aria-label={`Test ${displayName}`}
              disabled={test === "running"}
              onClick={runTest}
            >
              Test
            </button>
            <button type="button" className="button small" aria-label={`Edit ${displayName}`} onClick={onEdit}>
              Edit
            </button>
            <button type="button" className="button small" aria-label={`Delete ${displayName}`} onClick={() => setDeleting(true)}>
              Delete
            </button>
          </div>
        </>
      )}
      <div role="status">{test === undefined ? null : <TestLine test={test} />}</div>
      {error ? <ProblemNote error={error} /> : null}
      {isDeleting ? (
        <Dialog title={`Delete ${displayName}?`} onClose={() => setDeleting(false)}>
          <p>Its key is deleted as well. Your messages then use the models of this deployment, unless you activate another one.</p>
          <div className="dialog-actions">
            <button type="button" className="button" data-focus onClick={() => setDeleting(false)}>
              Keep
            </button>
            <button type="button" className="button danger" onClick={remove}>
              Delete
            </button>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}

function TestLine({ test }: { readonly test: ProviderTest | "running" }): ReactNode {
  if (test === "running")
    return (
      <p className="settings-hint">
        <span className="spinner" /> One short call is made
      </p>
    );
  if (test.ok)
    return (
      <p className="provider-works">
        <Icon name="check" /> {test.model} answered after {(test.totalMs / 1_000).toFixed(1)} s
      </p>
    );
  return (
    <p className="provider-fails">
      <Icon name="warning" />
      <span>
        {test.message} <span className="settings-hint">{test.fix}</span> <span className="problem-code">{test.code}</span>
      </span>
    </p>
  );
}
