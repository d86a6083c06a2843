import { type CacheFinding, type TelemetryRequests, telemetryRequests } from "@loopwright/client/telemetry";
import type { AgentError } from "@loopwright/core/protocol";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { errorOf } from "../../app/notices.ts";
import { useServices } from "../../app/services.ts";
import { useAnswer } from "../../app/use-answer.ts";
import { useWatched } from "../../app/use-watched.ts";
import { clockLabel, countLabel, moneyLabel } from "../../conversation/amount-labels.ts";
import { NotThere, percentLabel, ReloadButton, tokenText } from "./figures.tsx";

/** Why the vendor's cache missed: for one conversation, call by call. */
export function CacheSection(): ReactNode {
  const { server, list } = useServices();
  const sessions = useWatched(list, (state) => state.sessions);
  const telemetry = useMemo(() => telemetryRequests(server), [server]);
  const [chosen, setChosen] = useState<string>();
  const sessionId = chosen ?? sessions[0]?.id;
  if (sessionId === undefined) return <p className="settings-empty">There is no conversation yet.</p>;
  return (
    <>
      <div className="figure-head">
        <label>
          Conversation
          <select value={sessionId} onChange={({ target }) => setChosen(target.value)}>
            {sessions.map(({ id, title = "Conversation" }) => (
              <option key={id} value={id}>
                {title.slice(0, 60)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Findings key={sessionId} telemetry={telemetry} sessionId={sessionId} />
    </>
  );
}

interface Older {
  readonly findings: readonly CacheFinding[];
  readonly before: string | undefined;
  readonly error?: AgentError;
}

function Findings({ telemetry, sessionId }: { readonly telemetry: TelemetryRequests; readonly sessionId: string }): ReactNode {
  const ask = useCallback((signal: AbortSignal) => telemetry.cache(sessionId, { limit: 20, signal }), [telemetry, sessionId]);
  const { value: newest, error, isLoading, reload } = useAnswer(ask);
  const [older, setOlder] = useState<Older>();
  const next = older ? older.before : newest?.before;
  const showOlder = async (): Promise<void> => {
    if (next === undefined) return;
    try {
      const page = await telemetry.cache(sessionId, { limit: 20, before: next });
      setOlder({ findings: [...page.findings, ...(older?.findings ?? [])], before: page.before });
    } catch (caught) {
      setOlder({ findings: older?.findings ?? [], before: next, error: errorOf(caught) });
    }
  };
  const again = (): void => {
    setOlder(undefined);
    reload();
  };
  const shown = [...(older?.findings ?? []), ...(newest?.findings ?? [])].toReversed();
  const problem = error ?? older?.error;
  return (
    <>
      <div className="figure-head">
        <ReloadButton isLoading={isLoading} onReload={again} />
      </div>
      {problem ? <NotThere error={problem} what="what the vendor's cache gave" /> : null}
      {newest && shown.length === 0 ? <p className="settings-empty">No call of this conversation was recorded.</p> : null}
      <ul className="settings-cards" aria-label="Calls of the model, the newest first">
        {shown.map((finding) => (
          <FindingCard key={`${finding.runId}.${finding.turn}`} finding={finding} />
        ))}
      </ul>
      {next === undefined ? null : (
        <button type="button" className="button small" onClick={() => void showOlder()}>
          Older calls
        </button>
      )}
    </>
  );
}

const verdicts: { readonly [verdict in CacheFinding["verdict"]]: string } = {
  first: "The first call: there was nothing to repeat.",
  hit: "The request continued the one before.",
  changed: "The request differs from the one before, so the cache was of no use from there on.",
  expired: "Nothing has changed, and the vendor had forgotten: the call came too late.",
};

const names: { readonly [verdict in CacheFinding["verdict"]]: string } = {
  first: "First call",
  hit: "Read from the cache",
  changed: "Broken by a change",
  expired: "Expired",
};

function FindingCard({ finding }: { readonly finding: CacheFinding }): ReactNode {
  const { at, model, verdict, changed, repeatableTokens, cachedTokens, lostUsd } = finding;
  return (
    <li className="figure-card">
      <h3>
        <span className={`finding-${verdict}`}>{names[verdict]}</span>{" "}
        <span className="settings-hint">
          {clockLabel(at)}, <bdi>{model}</bdi>
        </span>
      </h3>
      <p>{verdicts[verdict]}</p>
      {changed ? (
        <p>
          First difference: <strong>{changed.name}</strong>
        </p>
      ) : null}
      <p className="settings-hint">
        {verdict === "first" || repeatableTokens === 0
          ? `${tokenText(cachedTokens)} from the cache`
          : `${countLabel(cachedTokens)} of ${countLabel(repeatableTokens)} repeatable tokens from the cache, ${percentLabel(Math.min(1, cachedTokens / repeatableTokens))}`}
        {lostUsd !== undefined && lostUsd > 0 ? `; lost: ${moneyLabel({ totalUsd: lostUsd })}` : ""}
      </p>
    </li>
  );
}
