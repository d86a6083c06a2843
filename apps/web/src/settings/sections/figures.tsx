import type { AgentError } from "@loopwright/core/protocol";
import type { ReactNode } from "react";
import { ProblemNote } from "../../app/problem-note.tsx";
import { moneyLabel, tokensLabel } from "../../conversation/amount-labels.ts";
import "./figures.css";

/** What is spent, in few signs. */
export const costLabel = ({ costUsd, unpricedCalls }: { readonly costUsd: number; readonly unpricedCalls: number }): string =>
  costUsd === 0 && unpricedCalls > 0 ? "price unknown" : moneyLabel({ totalUsd: costUsd, partial: unpricedCalls > 0 });

export const percentLabel = (share: number): string => `${Math.round(share * 1_000) / 10} %`;

export const tokenText = (tokens: number): string => `${tokensLabel(tokens)} tokens`;

export interface BarProps {
  /** From 0 to 1. */
  readonly share: number;
  readonly kind?: "cost" | "full";
}

/** A length beside its number: for the eye alone. */
export function Bar({ share, kind = "cost" }: BarProps): ReactNode {
  const width = Math.max(0, Math.min(1, share)) * 100;
  return (
    <svg className="figure-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect width="100" height="6" className="figure-bar-ground" />
      <rect width={width} height="6" className={kind === "full" ? "figure-bar-full" : "figure-bar-part"} />
    </svg>
  );
}

export interface NotThereProps {
  readonly error: AgentError;
  readonly what: string;
}

/** Why there are no figures. */
export function NotThere({ error, what }: NotThereProps): ReactNode {
  if (error.code === "FORBIDDEN") return <p className="settings-empty">Operators of this server alone see {what}.</p>;
  return <ProblemNote error={error} />;
}

/** Asks again, and shows that it does. */
export function ReloadButton({ isLoading, onReload }: { readonly isLoading: boolean; readonly onReload: () => void }): ReactNode {
  return (
    <button type="button" className="button small" aria-busy={isLoading} onClick={onReload}>
      {isLoading ? "Reading ..." : "Read again"}
    </button>
  );
}
